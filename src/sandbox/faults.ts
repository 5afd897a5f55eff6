import { PortolanError } from '../model/errors.ts';
import { schemaCheck } from './schema-check.ts';

/** `before`: the request never reaches the platform. `after`: it is done, and the answer is what goes wrong. */
type When = 'before' | 'after';

/** One thing that goes wrong with one request. */
export type ServerFault =
  | {
      readonly type: 'status';
      readonly when: When;
      readonly status: number;
      /** JSON, or text that is sent as it is. Default `{"msg":"injected fault"}`. */
      readonly body?: unknown;
      /** Default `application/json`, `text/html` for a text. */
      readonly contentType?: string;
      readonly retryAfter?: string;
    }
  | { readonly type: 'drop'; readonly when: When }
  /** `after`: the platform acts at once and answers late. */
  | { readonly type: 'delay'; readonly when?: When; readonly ms: number }
  /** A read answered from before the last `versions` writes; a write is not touched. */
  | { readonly type: 'stale'; readonly versions: number }
  /** The answer ends after this share of its bytes, and the connection with it. */
  | { readonly type: 'truncate'; readonly share?: number }
  | { readonly type: 'redirect'; readonly status?: number; readonly location?: string }
  /** Someone gives a rule of the application another domain. Default: `edited-` before the one it has. */
  | { readonly type: 'edit-rule'; readonly domain?: string }
  /** Someone moves the component of the path, or the first of the application, to another application. */
  | { readonly type: 'move-component'; readonly application: number }
  /** An application's detail as if a component's memory were not a multiple of 32 MiB. */
  | { readonly type: 'fraction' }
  /** A monitoring answer has its series, and no sample in them. */
  | { readonly type: 'lost-samples' }
  /** The duplicate check of a rule is lost, as when two equal requests meet. */
  | { readonly type: 'race' };

/** When a fault strikes. An absent member matches everything. */
export interface FaultRule {
  readonly name?: string;
  readonly operation?: string | readonly string[];
  readonly method?: string;
  /** `*` stands for one segment or part of it, `**` for any number of them. */
  readonly path?: string;
  /** Lets the first so many matching requests pass. */
  readonly skip?: number;
  /** Strikes so often, then no more. */
  readonly times?: number;
  /** Strikes with this probability, by the sandbox's random source. */
  readonly probability?: number;
  readonly fault: ServerFault;
}

const when = { enum: ['before', 'after'] };

function faultSchema(type: string, required: readonly string[], properties: object): object {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['type', ...required],
    properties: { type: { const: type }, ...properties },
  };
}

const status = { type: 'integer', minimum: 200, maximum: 599 };

/** JSON Schema 2020-12 of a list of fault rules. */
export const faultRulesSchema: object = {
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['fault'],
    properties: {
      name: { type: 'string' },
      operation: { type: ['string', 'array'], items: { type: 'string' } },
      method: { type: 'string' },
      path: { type: 'string' },
      skip: { type: 'integer', minimum: 0 },
      times: { type: 'integer', minimum: 1 },
      probability: { type: 'number', minimum: 0, maximum: 1 },
      fault: {
        type: 'object',
        required: ['type'],
        discriminator: { propertyName: 'type' },
        oneOf: [
          faultSchema('status', ['when', 'status'], {
            when,
            status,
            body: {},
            contentType: { type: 'string' },
            retryAfter: { type: 'string' },
          }),
          faultSchema('drop', ['when'], { when }),
          faultSchema('delay', ['ms'], { when, ms: { type: 'integer', minimum: 0 } }),
          faultSchema('stale', ['versions'], { versions: { type: 'integer', minimum: 1 } }),
          faultSchema('truncate', [], { share: { type: 'number', minimum: 0, exclusiveMaximum: 1 } }),
          faultSchema('redirect', [], {
            status: { type: 'integer', minimum: 300, maximum: 399 },
            location: { type: 'string' },
          }),
          faultSchema('edit-rule', [], { domain: { type: 'string', minLength: 1, maxLength: 128 } }),
          faultSchema('move-component', ['application'], { application: { type: 'integer', minimum: 1 } }),
          faultSchema('fraction', [], {}),
          faultSchema('lost-samples', [], {}),
          faultSchema('race', [], {}),
        ],
      },
    },
  },
};

const check = schemaCheck(faultRulesSchema);

/**
 * Fault rules, checked.
 * @throws PortolanError `invalid` that names every fault in them.
 */
export function checkFaultRules(value: unknown): readonly FaultRule[] {
  const problems = check(value);
  if (problems.length === 0) return value as readonly FaultRule[];
  throw new PortolanError({
    code: 'sandbox/faults-invalid',
    disposition: 'invalid',
    message: `the fault rules are not valid, so none was set:\n- ${problems.join('\n- ')}`,
    remedy: 'Correct the rules: a list of { operation | method | path, skip, times, probability, fault: { type, … } }.',
  });
}

/** The facts of a request that a rule compares. */
export interface RequestFacts {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
}

interface Armed {
  readonly rule: FaultRule;
  readonly path: RegExp | undefined;
  matched: number;
  struck: number;
}

/** Fault rules with their counts. The first rule that strikes wins. */
export class FaultPlan {
  #armed: readonly Armed[] = [];

  constructor(rules: readonly FaultRule[]) {
    this.replace(rules);
  }

  /** Replaces the rules and resets all counts. */
  replace(rules: readonly FaultRule[]): void {
    this.#armed = rules.map((rule) => ({
      rule,
      path: rule.path === undefined ? undefined : globPattern(rule.path),
      matched: 0,
      struck: 0,
    }));
  }

  /** Returns the fault that hits a request. Draws from `random` only for a rule with a probability. */
  next(request: RequestFacts, random: () => number): ServerFault | undefined {
    for (const armed of this.#armed) {
      if (!isMatch(armed, request)) continue;
      armed.matched += 1;
      const { rule } = armed;
      if (armed.matched <= (rule.skip ?? 0) || armed.struck >= (rule.times ?? Number.POSITIVE_INFINITY)) continue;
      if (rule.probability !== undefined && random() >= rule.probability) continue;
      armed.struck += 1;
      return rule.fault;
    }
    return undefined;
  }

  /** The rules with how often each matched and struck. */
  report(): readonly (FaultRule & { readonly matched: number; readonly struck: number })[] {
    return this.#armed.map(({ rule, matched, struck }) => ({ ...rule, matched, struck }));
  }
}

function isMatch({ rule, path }: Armed, request: RequestFacts): boolean {
  const operations = typeof rule.operation === 'string' ? [rule.operation] : rule.operation;
  if (operations !== undefined && !operations.includes(request.operation)) return false;
  if (rule.method !== undefined && rule.method.toUpperCase() !== request.method) return false;
  return path === undefined || path.test(request.path);
}

function globPattern(glob: string): RegExp {
  const escaped = glob.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  const pattern = escaped.replace(/\*\*|\*/g, (stars) => (stars === '**' ? '.*' : '[^/]*'));
  return new RegExp(`^${pattern}$`);
}
