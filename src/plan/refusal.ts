/** Why nothing of a plan is sent. */
export interface Refusal {
  /** Stable, `guard/what`. */
  readonly code: string;
  readonly message: string;
  /** The exact flag or setting that lets it through. */
  readonly override: string;
}
