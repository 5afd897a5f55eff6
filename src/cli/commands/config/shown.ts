import type { Origin, SettingInForce } from '../../../configuration/provenance.ts';
import { PortolanError } from '../../../model/errors.ts';
import { unreachable } from '../../../model/unreachable.ts';
import type { Surroundings } from '../../session/command.ts';
import { openSecret } from '../../session/secrets.ts';

/** A longer value is cut in the table; -o json has it whole. */
const VALUE_WIDTH_MAX = 60;

export function originText(origin: Origin): string {
  switch (origin.type) {
    case 'option':
      return origin.option;
    case 'file':
      return `${origin.position.file}:${origin.position.line}:${origin.position.column}`;
    case 'default':
      return 'default';
    case 'absent':
      return 'not set';
    default:
      return unreachable(origin);
  }
}

/** The value as a person reads it. Of a secret there is only the name of where it is, and whether it is there. */
export function settingText(setting: SettingInForce, surroundings: Surroundings): string {
  const secret = secretState(setting, surroundings);
  const { value } = setting;
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (secret !== undefined) return `${text} (${secret})`;
  return text.length <= VALUE_WIDTH_MAX ? text : `${text.slice(0, VALUE_WIDTH_MAX - 1)}…`;
}

/** Whether the secret of a reference can be read; undefined for a setting that refers to none. */
export function secretState(
  { schema, name, kind, document, value }: SettingInForce,
  surroundings: Surroundings,
): 'can be read' | 'cannot be read' | undefined {
  if (schema['x-secret'] !== 'name' || typeof value !== 'string') return undefined;
  const reference = name.endsWith('.env') ? { env: value } : { file: value };
  try {
    openSecret(reference, `${kind}/${document} spec.${name}`, surroundings);
    return 'can be read';
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return 'cannot be read';
  }
}
