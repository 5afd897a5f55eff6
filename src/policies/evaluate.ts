import { createContext, Script } from 'node:vm';
import { API_VERSION } from '../kinds/schema.ts';
import { type Compiled, compile, reasonOf } from './compile.ts';
import type { PolicyQuestion, PolicyResult, PolicySpec } from './spec.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Resource } from '../model/resource.ts';

/**
 * Time limit of one evaluation. Evaluations take microseconds; a pattern of `matches` that backtracks, or nested lists of
 * thousands of entries, would take hours.
 */
export const EVALUATION_MS_MAX = 2_000;
/**
 * Time limit of all evaluations of one application. An expression over `siblings` takes quadratic time: minutes for ten thousand manifests,
 * in which the thread of the daemon's source would serve no other application.
 */
export const APPLICATION_MS_MAX = 10_000;

interface Evaluation {
  readonly policy: PolicySpec;
  readonly compiled: Compiled;
  readonly resource: Resource | undefined;
  variables(): Readonly<Record<string, unknown>>;
}

/**
 * Evaluates the policies for the manifests of one application, and for its plan if there is one. An error is a result that
 * denies. A policy that takes too long is not evaluated further; if all of them take too long, those that are left deny.
 * @returns the results, in the order of the policies; none for everything that is allowed.
 */
export function evaluatePolicies(
  question: PolicyQuestion,
  clock: Pick<Clock, 'monotonic'>,
  limitMs = EVALUATION_MS_MAX,
  totalMs = APPLICATION_MS_MAX,
): readonly PolicyResult[] {
  const evaluations = evaluationsOf(question);
  const results: PolicyResult[] = [];
  const tooSlow = new Set<string>();
  let next = 0;
  /** Evaluates until a limit is used up, so that each evaluation has a whole one when it starts. */
  const evaluateSome = (): void => {
    const startedMs = clock.monotonic();
    for (; next < evaluations.length && clock.monotonic() - startedMs < limitMs; next += 1) {
      const evaluation = evaluations[next] as Evaluation;
      if (tooSlow.has(evaluation.policy.name)) continue;
      const result = resultOf(evaluation);
      if (result !== undefined) results.push(result);
    }
  };
  const startedMs = clock.monotonic();
  while (next < evaluations.length) {
    if (clock.monotonic() - startedMs >= totalMs) {
      const left = evaluations.slice(next).filter(({ policy }) => !tooSlow.has(policy.name));
      const reason = `the policies of the application take longer than ${totalMs} ms`;
      const first = Map.groupBy(left, ({ policy }) => policy.name).values();
      return [...results, ...first.map(([evaluation]) => errorOf(evaluation as Evaluation, reason))];
    }
    if (isDoneWithin(2 * limitMs, evaluateSome)) continue;
    const evaluation = evaluations[next] as Evaluation;
    tooSlow.add(evaluation.policy.name);
    results.push(errorOf(evaluation, `it takes longer than ${limitMs} ms`));
    next += 1;
  }
  return results;
}

function evaluationsOf({ policies, manifests, plan }: PolicyQuestion): readonly Evaluation[] {
  const all = manifests.map(variableOf);
  return policies.flatMap((policy): readonly Evaluation[] => {
    const { subject } = policy;
    const compiled = compiledOnce(policy);
    if (subject === 'manifest')
      return manifests.map((resource, index) => ({
        policy,
        compiled,
        resource,
        variables: () => ({
          manifest: all[index],
          // Most policies do not read it, and an application may have thousands of manifests.
          get siblings() {
            return all.toSpliced(index, 1);
          },
        }),
      }));
    if (plan === undefined) return [];
    return [{ policy, compiled, resource: undefined, variables: () => ({ plan: celValue(plan), siblings: all }) }];
  });
}

function variableOf({ kind, name, labels, annotations, spec }: Resource): unknown {
  return celValue({ apiVersion: API_VERSION, kind, metadata: { name, labels, annotations }, spec });
}

/** Returns JSON as CEL has it: whole numbers are of type int. Absent members stay absent. */
function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.assign(Object.create(null), Object.fromEntries(members.map(([key, one]) => [key, celValue(one)])));
}

function resultOf(evaluation: Evaluation): PolicyResult | undefined {
  const { policy, compiled, resource, variables } = evaluation;
  if (compiled.type === 'faulty') return errorOf(evaluation, compiled.reason);
  try {
    const value = compiled.evaluate(variables());
    if (value === true) return undefined;
    if (value !== false) return errorOf(evaluation, 'its value is not a bool');
    const { name, action, message } = policy;
    return { policy: name, action, resource: resource?.id, message, isError: false };
  } catch (error) {
    return errorOf(evaluation, reasonOf(error));
  }
}

function errorOf({ policy, resource }: Pick<Evaluation, 'policy' | 'resource'>, reason: string): PolicyResult {
  const message = `the expression cannot be evaluated: ${reason}`;
  return { policy: policy.name, action: 'deny', resource: resource?.id, message, isError: true };
}

/** Compiled expressions of this thread. */
const compiledBefore = new Map<string, Compiled>();
/** An operator has at most 200 policies; reloads may change them. */
const COMPILED_MAX = 1_000;

function compiledOnce({ subject, expression }: PolicySpec): Compiled {
  const key = `${subject} ${expression}`;
  const known = compiledBefore.get(key);
  if (known !== undefined) return known;
  if (compiledBefore.size >= COMPILED_MAX) compiledBefore.clear();
  const compiled = compile({ subject, expression });
  compiledBefore.set(key, compiled);
  return compiled;
}

const surface: { work?: () => void } = {};
let watched: { readonly script: Script; readonly context: object } | undefined;

/** Calls a function and ends it after a time. Only V8 can end a pattern that backtracks. @returns whether it ended by itself. */
function isDoneWithin(timeoutMs: number, work: () => void): boolean {
  watched ??= { script: new Script('work()'), context: createContext(surface) };
  surface.work = work;
  try {
    watched.script.runInContext(watched.context, { timeout: timeoutMs });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}
