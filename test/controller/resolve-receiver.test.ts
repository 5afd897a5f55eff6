import { lookup } from 'node:dns';
import { expect, test, vi } from 'vitest';
import { lookupAllowed } from '../../src/controller/outbound.ts';

// What a name server says cannot be real here: the machine of a test has none that lies.
vi.mock('node:dns', { spy: true });

type Addresses = readonly { readonly address: string; readonly family: 4 | 6 }[];

function resolve(addresses: Addresses, all: boolean): Promise<unknown> {
  const says = (_name: string, _options: unknown, answer: (error: null, found: Addresses) => void): void =>
    answer(null, addresses);
  vi.mocked(lookup).mockImplementationOnce(says as never);
  return new Promise((done) =>
    lookupAllowed('receiver.example.com', { all }, (error, address) => done(error?.code ?? address)),
  );
}

test.for([true, false])('a name that resolves to a forbidden address gets no socket (all: %s)', async (all) => {
  const good = { address: '10.1.2.3', family: 4 } as const;
  for (const address of ['169.254.169.254', '169.254.1.1', '100.100.100.200', '0.0.0.0'])
    expect(await resolve([good, { address, family: 4 }], all), address).toBe('EFORBIDDEN');
  for (const address of ['fe80::1', 'fd00:ec2::254', '::', '::ffff:169.254.169.254'])
    expect(await resolve([{ address, family: 6 }, good], all), address).toBe('EFORBIDDEN');
  expect(await resolve([], all)).toBe('EFORBIDDEN');
});

test('a private address is allowed: receivers of a company are there', async () => {
  const found = [
    { address: '10.1.2.3', family: 4 },
    { address: 'fd12::1', family: 6 },
  ] as const;
  expect(await resolve(found, true)).toEqual(found);
  expect(await resolve(found, false)).toBe('10.1.2.3');
});
