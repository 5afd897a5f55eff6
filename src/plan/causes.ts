import type { UnobservedScope } from './document.ts';
import type { Refusal } from './guard.ts';

/** One cause, and every application that it stops. */
export interface CommonCause {
  /** The first is the one that the message is about. */
  readonly applications: readonly string[];
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/** Errors of applications that have one cause, such as a platform that cannot be reached, put together. */
export function commonCauses(errors: readonly Omit<UnobservedScope, 'disposition'>[]): readonly CommonCause[] {
  const groups = Map.groupBy(
    errors,
    ({ application, code, message, remedy }) => `${code}\n${causeOf(message, application)}\n${remedy}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { code, message, remedy } = first;
    return [{ applications: group.map(({ application }) => application), code, message, remedy }];
  });
}

/** Returns a message without the path of its request and without its application. */
function causeOf(message: string, application: string): string {
  return message
    .replaceAll(/(https?:\/\/[^/\s:]+(?::\d+)?)[^\s)]*?(?=[:,;)]*(?:\s|$))/g, '$1')
    .replaceAll(application, '');
}

/** Refusals in the same words, once. */
export function distinctRefusals(refusals: readonly Refusal[]): readonly Refusal[] {
  const groups = Map.groupBy(refusals, ({ code, message, override }) => `${code}\n${message}\n${override}`);
  return [...groups.values()].flatMap(([first]) => first ?? []);
}

const NAMED_MAX = 10;

/** `A, B and C`; the rest of many as a number. */
export function namesOf(applications: readonly string[]): string {
  const shown = applications.length > NAMED_MAX ? applications.slice(0, NAMED_MAX - 1) : applications;
  const more = applications.length - shown.length;
  const parts = more === 0 ? shown : [...shown, `${more} more`];
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}
