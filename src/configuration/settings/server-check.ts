import { isIP } from 'node:net';
import type { SpecProblem } from '../../kinds/kind.ts';
import { repeats } from '../../kinds/problems.ts';
import type { ServerSettings } from './server-spec.ts';

const PORT_MAX = 65_535;

export function serverProblems({ listen, tokens, webhooks, trustedProxies }: ServerSettings): readonly SpecProblem[] {
  const path = 'spec.server';
  const port = Number(listen.slice(listen.lastIndexOf(':') + 1));
  const badPort: readonly SpecProblem[] =
    port <= PORT_MAX
      ? []
      : [
          {
            code: 'settings/listen',
            path: `${path}.listen`,
            message: `there is no port ${port}`,
            expected: `a port from 0 to ${PORT_MAX}`,
          },
        ];
  const badProxies = trustedProxies.flatMap((proxy, at): readonly SpecProblem[] =>
    isNetwork(proxy)
      ? []
      : [
          {
            code: 'settings/trusted-proxy',
            path: `${path}.trustedProxies[${at}]`,
            message: `${proxy} is neither an address nor a network`,
            expected: 'an address or a network, such as 10.0.0.0/8',
          },
        ],
  );
  return [...badPort, ...badProxies, ...doubles(tokens, `${path}.tokens`), ...doubles(webhooks, `${path}.webhooks`)];
}

/** `10.0.0.0/8`, `fd00::/8`, `192.0.2.1`. */
function isNetwork(text: string): boolean {
  const [address = '', prefix] = text.split('/');
  const family = isIP(address);
  return family !== 0 && (prefix === undefined || Number(prefix) <= (family === 6 ? 128 : 32));
}

/** A name says who did something, or which sender is meant, so it stands for one only. */
function doubles(named: readonly { readonly name: string }[], path: string): readonly SpecProblem[] {
  return repeats(named.map(({ name }) => name)).map(({ value, index }) => ({
    code: 'settings/double-name',
    path: `${path}[${index}].name`,
    message: `the name ${value} stands here a second time`,
    expected: 'a name of its own for each',
  }));
}
