import { isMap, isScalar, isSeq, Scalar, visit, YAMLMap, YAMLSeq } from 'yaml';
import { operatorDeclarations } from './declarations.ts';
import { API_VERSION } from '../kinds/schema.ts';
import { type SettingField, settingFields, variableWords } from './settings-list.ts';
import { invalidInput, type PortolanError } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import { type ParsedDocument, parseDocuments } from '../manifest/documents.ts';
import { formatPath } from '../manifest/paths.ts';
import { didYouMean } from '../manifest/suggest.ts';

/** One value of the operator's configuration from a flag or a variable, which takes precedence over the file. */
export interface Override {
  /** The name in messages: `--set prune.maxShare`, `$PORTOLAN_SET_PRUNE_MAX_SHARE`. Never the value. */
  readonly origin: string;
  readonly kind: string;
  /** `metadata.name`; undefined for Settings, of which there is one. A variable has its own spelling of it. */
  readonly name: { readonly exact: string } | { readonly variable: string } | undefined;
  readonly field: SettingField;
  readonly text: string;
}

const VARIABLE_PREFIX = 'PORTOLAN_SET_';
const SETTINGS = 'Settings';
/** The operator's kinds that may have several documents. Their settings are named with the document. */
const NAMED_KINDS = [...operatorDeclarations.values()].filter(({ kind }) => kind !== SETTINGS);

/** Returns the settings of a kind by their path without `spec.`: `prune.maxShare`. */
export function settingsOfKind(kind: string): ReadonlyMap<string, SettingField> {
  const declaration = operatorDeclarations.get(kind);
  const fields = declaration === undefined ? [] : settingFields(declaration.specSchema);
  return new Map(fields.map((field) => [settingName(field), field]));
}

/** Returns the name of a setting: `prune.maxShare`. */
export function settingName({ path }: SettingField): string {
  return path.slice(1).join('.');
}

/** Returns the variable of a setting: `PORTOLAN_SET_PRUNE_MAX_SHARE`, `PORTOLAN_SET_PLATFORM_DEFAULT_URL`. */
export function settingVariable(kind: string, name: string | undefined, field: SettingField): string {
  const document = kind === SETTINGS || name === undefined ? [] : [kind, name];
  return VARIABLE_PREFIX + variableWords([...document, ...field.path.slice(1)]);
}

/**
 * Returns the overrides of variables, then those of flags. A later one takes precedence over an earlier one.
 * @param flags `[Kind/name:]path=value` each.
 * @throws PortolanError `invalid` for an override of an unknown setting.
 */
export function readOverrides(
  flags: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): readonly Override[] {
  const variables = Object.keys(env)
    .filter((variable) => variable.startsWith(VARIABLE_PREFIX) && env[variable] !== '')
    .sort();
  return [
    ...variables.map((variable) => overrideOfVariable(variable, env[variable] ?? '')),
    ...flags.map(overrideOfFlag),
  ];
}

function overrideOfFlag(flag: string): Override {
  const [, kind = SETTINGS, name, path, text] =
    /^(?:([A-Za-z]+)(?:\/([^:=]+))?:)?(?:spec\.)?([^:=]+)=(.*)$/s.exec(flag) ?? [];
  if (path === undefined || text === undefined) throw badForm();
  const isNamed = NAMED_KINDS.some((one) => one.kind === kind);
  if (kind !== SETTINGS && (!isNamed || name === undefined)) throw badForm();
  const fields = settingsOfKind(kind);
  const field = fields.get(path);
  const origin = `--set ${kind === SETTINGS ? '' : `${kind}/${name}:`}${path}`;
  if (field === undefined) throw unknownSetting(origin, didYouMean(path, fields.keys()));
  return { origin, kind, name: kind === SETTINGS || name === undefined ? undefined : { exact: name }, field, text };
}

function overrideOfVariable(variable: string, text: string): Override {
  const words = variable.slice(VARIABLE_PREFIX.length);
  const origin = `$${variable}`;
  for (const field of settingsOfKind(SETTINGS).values())
    if (settingVariable(SETTINGS, undefined, field) === variable)
      return { origin, kind: SETTINGS, name: undefined, field, text };
  for (const { kind } of NAMED_KINDS) {
    const start = `${variableWords([kind])}_`;
    if (!words.startsWith(start)) continue;
    // The longest field first; the text before it is the name of the document.
    const fields = [...settingsOfKind(kind).values()].sort((left, right) => right.path.length - left.path.length);
    for (const field of fields) {
      const end = `_${variableWords(field.path.slice(1))}`;
      const name = words.slice(start.length, -end.length);
      if (words.endsWith(end) && name !== '') return { origin, kind, name: { variable: name }, field, text };
    }
  }
  const known = [...settingsOfKind(SETTINGS).values()].map((field) => settingVariable(SETTINGS, undefined, field));
  throw unknownSetting(origin, didYouMean(variable, known));
}

function badForm(): PortolanError {
  const kinds = NAMED_KINDS.map(({ kind }) => `${kind}/NAME:`).join(' or ');
  return invalidInput(
    'cli/bad-setting',
    'A --set does not have the form PATH=VALUE.',
    `Write --set prune.maxShare=0.5 for a setting. For a setting of one of several documents, write ${kinds} before the path.`,
  );
}

function unknownSetting(origin: string, hint: string | undefined): PortolanError {
  return invalidInput(
    'cli/unknown-setting',
    `${origin} is not a setting.`,
    `${hint === undefined ? '' : `${hint.charAt(0).toUpperCase()}${hint.slice(1)} `}Run portolan config for a list of all settings.`,
  );
}

/** A document that an override changed or created. */
interface Target {
  readonly kind: string;
  readonly name: string;
  readonly override: Override;
  readonly isMade: boolean;
}

/** Writes overrides into the documents of a configuration, and finds the override that caused a fault. */
export class Overriding {
  readonly #overrides: readonly Override[];
  readonly #targets: Target[] = [];

  constructor(overrides: readonly Override[]) {
    this.#overrides = overrides;
  }

  /** Writes each override into its document, and creates that where there is none. */
  amend(parsed: readonly ParsedDocument[]): readonly ParsedDocument[] {
    const documents = [...parsed];
    for (const override of this.#overrides) {
      const existing = documents.find((document) => isMeant(document, override));
      const map = existing === undefined ? madeFor(override) : (existing.contents as YAMLMap);
      if (existing === undefined) documents.push({ contents: map, offset: 0, faults: [], broken: false });
      const known = this.#targets.find((target) => target.isMade && isMeant({ contents: map }, target.override));
      const isMade = existing === undefined || known !== undefined;
      this.#targets.push({ kind: override.kind, name: nameIn(map), override, isMade });
      assign(map, override);
    }
    return documents;
  }

  /** Returns the problem with the flag or variable as its position, if that gave the value. */
  place(problem: Problem): Problem {
    const cause = this.cause(problem.resource, problem.path);
    if (cause === undefined) return problem;
    const { excerpt: _, ...rest } = problem;
    return { ...rest, position: { file: cause.origin, line: 1, column: 1, of: 'option' } };
  }

  /** Returns the override that a value comes from: the last one that set it, or the one that created its document. */
  cause(resource: string | undefined, path: string): Override | undefined {
    const own = this.#targets.filter(({ kind, name }) => resource === `${kind}/${name}`);
    const at = own.findLast(({ override: { field } }) => {
      const given = formatPath(field.path);
      const parent = field.isOfSecret ? formatPath(field.path.slice(0, -1)) : given;
      return path === parent || path === given || path.startsWith(`${given}.`) || path.startsWith(`${given}[`);
    });
    return (at ?? own.find(({ isMade }) => isMade))?.override;
  }
}

export function isMeant(
  { contents }: Pick<ParsedDocument, 'contents'>,
  { kind, name }: Pick<Override, 'kind' | 'name'>,
): boolean {
  if (textAt(contents, ['kind']) !== kind) return false;
  if (name === undefined) return true;
  const own = nameIn(contents);
  return 'exact' in name ? own === name.exact : variableWords([own]) === name.variable;
}

/** Returns the name of an operator's document; some kinds have a default. */
function nameIn(contents: unknown): string {
  const declaration = operatorDeclarations.get(textAt(contents, ['kind']) ?? '');
  return textAt(contents, ['metadata', 'name']) ?? declaration?.defaultName ?? '';
}

/** Returns the text at a path. It does not use `locate`, which caches the keys of a map: overrides add some. */
export function textAt(contents: unknown, path: readonly string[]): string | undefined {
  const found: unknown = isMap(contents) ? contents.getIn(path) : undefined;
  return typeof found === 'string' ? found : undefined;
}

function madeFor({ kind, name }: Override): YAMLMap {
  const made = mapOf({ apiVersion: text(API_VERSION), kind: text(kind) });
  if (name !== undefined) {
    const written = 'exact' in name ? name.exact : name.variable.toLowerCase().replaceAll('_', '-');
    made.set(text('metadata'), mapOf({ name: text(written) }));
  }
  return made;
}

function mapOf(entries: Readonly<Record<string, unknown>>): YAMLMap {
  const map = new YAMLMap();
  for (const [key, value] of Object.entries(entries)) map.set(text(key), value);
  return map;
}

/** Returns a scalar in quotes, so that it is read as text. */
function text(value: string): Scalar {
  const scalar = new Scalar(value);
  scalar.type = 'QUOTE_DOUBLE';
  return scalar;
}

function assign(document: YAMLMap, { field, text: value }: Override): void {
  const way = field.path.slice(0, -1);
  let map = document;
  for (const [index, key] of way.entries()) {
    const existing = map.get(key, true);
    // The reference to a secret may have only one member.
    const isReplaced = field.isOfSecret && index === way.length - 1;
    const next = isMap(existing) && !isReplaced ? existing : new YAMLMap();
    map.set(text(key), next);
    map = next;
  }
  map.set(text(field.path.at(-1) ?? ''), valueNode(field, value));
}

/** Returns the node of a value: text as it is, a list with commas, or YAML. */
function valueNode({ schema }: SettingField, value: string): unknown {
  if (schema['type'] === 'string') return text(value);
  if (schema['type'] === 'array' && !value.trimStart().startsWith('[')) {
    const list = new YAMLSeq();
    for (const item of value.split(',').map((part) => part.trim())) if (item !== '') list.add(text(item));
    return list;
  }
  const { documents, faults } = parseDocuments(value);
  const [only] = documents;
  // A value that is not YAML is text; the message of the schema then says what is expected.
  if (documents.length !== 1 || only === undefined || only.broken || faults.length > 0) return text(value);
  const node = only.contents;
  if (isScalar(node) || isMap(node) || isSeq(node))
    visit(node, (_, part) => {
      // Offsets into this text must not count as offsets into the file.
      if (isScalar(part) || isMap(part) || isSeq(part)) part.range = null;
    });
  return node;
}
