/** Returns the headers that every answer has. @param tls undefined: the server speaks plain HTTP. */
export function policyHeaders({ tls }: { readonly tls: unknown }): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(tls === undefined ? {} : { 'strict-transport-security': 'max-age=31536000' }),
  };
}
