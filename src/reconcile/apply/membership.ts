/** Whether components belong to the application that is written to. */
export interface Membership {
  /**
   * Read from the platform, never inferred from an answer to a write: an application without components lets a request for
   * the component of another one through.
   */
  of(serviceId: string): Promise<Belonging>;
}

export type Belonging =
  | { readonly type: 'member' }
  | { readonly type: 'stranger' }
  /** It could not be read: nothing is sent then. */
  | { readonly type: 'unknown'; readonly message: string; readonly remedy: string };
