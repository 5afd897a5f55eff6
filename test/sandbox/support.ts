import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { handle, type Handled } from '../../src/sandbox/handle.ts';
import { type Seed, stateOf } from '../../src/sandbox/seed.ts';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import {
  plainTokenOf,
  type Sandbox,
  type SandboxOptions,
  SANDBOX_TOKEN,
  startSandbox,
} from '../../src/sandbox/server.ts';
import type { SandboxState } from '../../src/sandbox/state.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';

export function startTestSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return startSandbox({ clock: systemClock, random: systemRandom, ...options });
}

/** One request with the token, its answer decoded. */
export async function ask(sandbox: Pick<Sandbox, 'url'>, method: string, path: string, body?: unknown) {
  const answer = await fetch(sandbox.url + path, {
    method,
    redirect: 'manual',
    headers: { authorization: SANDBOX_TOKEN, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: text === '' ? undefined : JSON.parse(text) };
}

/** A state that is asked directly, with a clock that tests move and ids that count. */
export class Bench {
  readonly state: SandboxState;
  readonly dialect: Dialect;
  nowMs = Date.parse('2026-11-20T12:00:00Z');
  last: Handled | undefined;
  #ids = 0;

  constructor(seed: Seed = demoSeed, dialect: Dialect = 'extended') {
    this.state = stateOf(seed);
    this.dialect = dialect;
  }

  newId = (): string => {
    this.#ids += 1;
    return this.#ids.toString(16).padStart(32, 'f');
  };

  /** `path` may hold a query; a path that does not start with a slash is below the demo's application. */
  ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const [absolute = '', query = ''] = (path.startsWith('/') ? path : `${shopPath}${path && `/${path}`}`).split('?');
    this.last = handle(
      this.state,
      {
        method,
        path: absolute,
        query: Object.fromEntries(new URLSearchParams(query)),
        headers: { authorization: SANDBOX_TOKEN, 'content-type': 'application/json', ...headers },
        body: body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
      },
      {
        nowMs: this.nowMs,
        newId: this.newId,
        dialect: this.dialect,
        token: SANDBOX_TOKEN,
        plainToken: plainTokenOf(SANDBOX_TOKEN),
      },
    );
    const { status, headers: answered, body: text } = this.last.response;
    return { status, body: answered['content-type'] === 'application/json' ? JSON.parse(text) : text };
  }
}

export const shopPath = `/openapi/v1/teams/${demo.team}/regions/${demo.region}/apps/${demo.appId}`;
export const webPorts = `services/${demo.webServiceId}/ports`;
