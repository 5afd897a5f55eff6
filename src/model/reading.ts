/** A listing of one application that a kind declares. A server that has no such address cannot be read. */
export interface Reading<T> {
  /** Unique; the name in metrics and logs: `listBanners`. */
  readonly operation: string;
  /** Below the address of the application; each is encoded. */
  readonly segments: readonly string[];
  /** @throws PortolanError `platform/schema-drift` for an answer of another form. */
  decode(json: unknown, where: string): T;
}
