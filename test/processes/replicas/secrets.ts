/** The access key of the store. */
export const STORE_KEY = 'replica-store-key';

/** Returns a body without the members that hold the access key: the journal has none of them. */
export function withoutSecret(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecret);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== STORE_KEY);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutSecret(member)]));
}
