import { isScalar } from 'yaml';
import { type Declarations, type KindDeclaration, type Reference, referencesOf } from '../kinds/kind.ts';
import { API_VERSION, NAME_LENGTH_MAX, NAME_PATTERN } from '../kinds/schema.ts';
import { type ParsedDocument } from './documents.ts';
import { explain } from './explain.ts';
import { type Fault, faultAt, type Mask } from './fault.ts';
import { locate, spanOfPlace } from './locate.ts';
import { type Path, pointerSteps } from './paths.ts';
import { short } from './scalars.ts';
import { secretMasks, type Trust } from './secrets.ts';
import { type Explained, propertyOf } from './sentences.ts';
import type { Variables } from './substitute.ts';
import { didYouMean } from './suggest.ts';
import { type SchemaError, validateDocument } from './validate.ts';
import { type DocumentValue, EMPTY_MAP, readValue, shareItems, type Value } from './values.ts';
import { SKIP_MARKER } from './source-rules.ts';

const NO_MANIFEST = `move files that are not manifests out of the folder, or into a subfolder that contains a file called ${SKIP_MARKER}`;

/** One document after its own checks, before those across documents. */
export interface ReadDocument {
  readonly offset: number;
  /** The kind and the name, as far as they are readable. A document with faults may have them too. */
  readonly kind: string | undefined;
  readonly name: string | undefined;
  /** `undefined` if the document has a fault. */
  readonly content: DocumentContent | undefined;
  /** The content without the faulty parts, if the document has faults and the rest can be checked further. */
  readonly remains: DocumentContent | undefined;
  /** Whether `remains` lacks nothing: only apiVersion is faulty. Other documents can be checked against it. */
  readonly isWhole: boolean;
  /** The references of a document that has neither content nor remains. */
  readonly references: readonly Reference[];
  readonly faults: readonly Fault[];
  readonly masks: readonly Mask[];
}

/** The content of a document that has passed its schema. */
export interface DocumentContent {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: unknown;
}

/** The rules by which a file is read. */
export interface ReadingRules {
  readonly trust: Trust;
  readonly kinds: Declarations;
  /** undefined: `${NAME}` is not replaced. */
  readonly variables?: Variables | undefined;
}

/**
 * Reads one document without the others: values, header, schema of its kind.
 * @param damaged the file has unsafe characters, which were reported and replaced.
 */
export function readDocument(parsed: ParsedDocument, rules: ReadingRules, damaged: boolean): ReadDocument {
  const { trust, kinds, variables } = rules;
  const { contents, offset } = parsed;
  const value = readValue(contents, isSubstitutionDisabled(contents) ? undefined : variables, damaged);
  const root = asMap(value.value);
  const kind = textOf(root?.['kind']);
  const declaration = kind === undefined ? undefined : kinds.get(kind);
  const name = nameOf(root) ?? declaration?.defaultName;
  const masks = secretMasks(contents, trust);
  const atFault = (...more: readonly Fault[]): ReadDocument => {
    const faults = named([...parsed.faults, ...value.faults, ...more], kinds, kind, name);
    return {
      offset,
      kind,
      name,
      content: undefined,
      remains: undefined,
      isWhole: false,
      references: [],
      faults,
      masks,
    };
  };
  if (parsed.broken) return atFault();
  const explained: Explained = { contents, offset, value };
  const header = headerFault(root, declaration, rules, explained);
  if (header !== undefined) return atFault(header);
  if (declaration === undefined || root === undefined) return atFault();
  const errors = validateWithText(declaration, value);
  const explanation = explain(errors, explained);
  // A value may be unknown without a fault here, if the fault was reported with the file.
  const unknown = value.faults.length > 0 || value.poisoned.size > 0;
  const sound = errors.length === 0 && !unknown;
  const remains = sound || unknown ? undefined : remainsOf(declaration, value.value, errors);
  return {
    ...atFault(...explanation.faults),
    content: sound ? contentOf(root) : undefined,
    remains,
    isWhole: remains !== undefined && errors.every(isOfVersion),
    references: sound || remains !== undefined ? [] : referencesByName(declaration, root['spec']),
    masks: trust === 'operator' ? [...masks, ...explanation.masks] : masks,
  };
}

/**
 * Validates a document. A value that was exactly `${NAME}` was read as a YAML scalar; a text field gets the text of the variable.
 */
function validateWithText(declaration: KindDeclaration<unknown>, value: DocumentValue): readonly SchemaError[] {
  const errors = validateDocument(declaration, value.value);
  if (value.substituted.size === 0 || errors.length === 0) return errors;
  let isChanged = false;
  for (const { keyword, instancePath, parentSchema } of errors) {
    const text = value.substituted.get(instancePath);
    if (keyword !== 'type' || text === undefined || parentSchema?.['type'] !== 'string') continue;
    isChanged = assign(value.value, instancePath, text) || isChanged;
  }
  return isChanged ? validateDocument(declaration, value.value) : errors;
}

function assign(root: Value, pointer: string, text: string): boolean {
  const steps = [...pointerSteps(pointer)];
  const last = steps.pop() ?? '';
  let parent: Value | undefined = root;
  for (const step of steps) parent = (parent as { [key: string]: Value } | undefined)?.[step];
  if (typeof parent !== 'object' || parent === null) return false;
  (parent as { [key: string]: Value })[last] = text;
  return true;
}

function remainsOf(
  declaration: KindDeclaration<unknown>,
  value: Value,
  errors: readonly SchemaError[],
): DocumentContent | undefined {
  const rest = withoutFaults(value, errors);
  const root = asMap(rest);
  return root !== undefined && validateDocument(declaration, rest).length === 0 ? contentOf(root) : undefined;
}

/** Returns the references that can be checked although the rest of a spec is faulty. */
function referencesByName(declaration: KindDeclaration<unknown>, spec: Value | undefined): readonly Reference[] {
  return referencesOf(declaration, spec).filter(({ to }) => isName(to.slice(to.indexOf('/') + 1)));
}

/** Whether an error says only that the version of the format is missing or unknown. */
function isOfVersion(error: SchemaError): boolean {
  return error.instancePath === '/apiVersion' || (error.instancePath === '' && propertyOf(error) === 'apiVersion');
}

/**
 * Removes the faulty parts of a document, so that the rules of its kind can check the rest in the same run. Works on a copy.
 * @returns `undefined` where the rest would have another meaning: a list would be renumbered, or a default would replace a
 * removed part.
 */
function withoutFaults(value: Value, errors: readonly SchemaError[]): Value | undefined {
  const copy = structuredClone(value);
  for (const error of errors) {
    if (isOfVersion(error)) {
      (copy as { [key: string]: Value })['apiVersion'] = API_VERSION;
      continue;
    }
    if (error.keyword === 'required' || error.keyword === 'oneOf') return undefined;
    if (error.keyword !== 'additionalProperties' && error.parentSchema?.['default'] !== undefined) return undefined;
    const steps = [...pointerSteps(error.instancePath)];
    if (error.keyword === 'additionalProperties') steps.push(String(propertyOf(error)));
    if (!remove(copy, steps)) return undefined;
  }
  return copy;
}

function remove(root: Value, steps: readonly string[]): boolean {
  const last = steps.at(-1);
  let parent: Value | undefined = root;
  for (const step of steps.slice(0, -1)) {
    // Already removed, with a fault above it.
    if (typeof parent !== 'object' || parent === null) return true;
    parent = (parent as { readonly [key: string]: Value })[step];
  }
  if (last === undefined || Array.isArray(parent)) return false;
  if (typeof parent === 'object' && parent !== null) delete parent[last];
  return true;
}

function contentOf(root: ValueMap): DocumentContent {
  const metadata = asMap(root['metadata']);
  shareItems(root['spec']);
  return {
    labels: (asMap(metadata?.['labels']) ?? EMPTY_MAP) as Record<string, string>,
    annotations: (asMap(metadata?.['annotations']) ?? EMPTY_MAP) as Record<string, string>,
    spec: root['spec'],
  };
}

/** Returns the fault that prevents a document from being validated by a schema. */
function headerFault(
  root: ValueMap | undefined,
  declaration: KindDeclaration<unknown> | undefined,
  rules: ReadingRules,
  explained: Explained,
): Fault | undefined {
  if (root === undefined) {
    return faultAt(explained.offset, {
      code: 'document/not-a-map',
      message: `the document is ${Array.isArray(explained.value.value) ? 'a list' : 'a single value'}`,
      expected: 'a map with apiVersion, kind, metadata and spec',
    });
  }
  if (declaration === undefined) return kindFault(root, rules, explained);
  if (declaration.trust === rules.trust) return undefined;
  const at = { ...placed(explained.contents, ['kind']), path: 'kind', code: 'document/trust' };
  if (rules.trust === 'operator') {
    const message = `kind: ${declaration.kind} is a manifest and belongs to a source, not to the configuration file`;
    return { ...at, message, expected: oneOf(rules), hint: 'move it to a file of the source (-f)' };
  }
  return {
    ...at,
    message: `kind: ${declaration.kind} belongs to the operator's configuration, not to a source`,
    expected: `a manifest: ${oneOf(rules)}`,
    hint: 'move it to the configuration file (--config): otherwise anyone who can commit here could send a token, a key or a file to their own server',
  };
}

function kindFault(root: ValueMap, rules: ReadingRules, explained: Explained): Fault | undefined {
  const kind = root['kind'];
  if (explained.value.poisoned.has('/kind')) return undefined;
  const expected = oneOf(rules);
  const noManifest = root['apiVersion'] === API_VERSION ? undefined : NO_MANIFEST;
  if (kind === undefined || kind === null) {
    const message =
      noManifest === undefined ? 'kind is missing' : `this is not a ${API_VERSION} document: it has no kind`;
    return faultAt(explained.offset, {
      code: 'document/kind',
      message,
      expected: `kind: ${expected}`,
      hint: noManifest,
    });
  }
  const text = typeof kind === 'string' ? kind : JSON.stringify(kind);
  return {
    ...placed(explained.contents, ['kind']),
    path: 'kind',
    code: 'document/kind',
    message: `there is no kind ${JSON.stringify(short(text))}`,
    expected,
    hint: didYouMean(text, namesOf(rules)) ?? noManifest,
  };
}

function namesOf({ trust, kinds }: ReadingRules): readonly string[] {
  return [...kinds.values()].filter((entry) => entry.trust === trust).map((entry) => entry.kind);
}

function oneOf(rules: ReadingRules): string {
  const names = namesOf(rules);
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

function placed(contents: unknown, path: Path): { readonly offset: number; readonly length: number } {
  return spanOfPlace(locate(contents, path).place);
}

function named(
  faults: readonly Fault[],
  kinds: Declarations,
  kind: string | undefined,
  name: string | undefined,
): readonly Fault[] {
  if (kind === undefined || name === undefined || !kinds.has(kind)) return faults;
  return faults.map((fault) => ({ ...fault, resource: `${kind}/${name}` }));
}

/** Reads the annotation from the nodes, because it decides how values are read. */
function isSubstitutionDisabled(contents: unknown): boolean {
  const { place, complete } = locate(contents, ['metadata', 'annotations', 'portolan/substitute']);
  return complete && isScalar(place.value) && place.value.value === 'disabled';
}

type ValueMap = Readonly<Record<string, Value>>;

function asMap(value: Value | undefined): ValueMap | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Returns a valid name. An invalid name cannot be referred to. */
function nameOf(root: ValueMap | undefined): string | undefined {
  const name = textOf(asMap(root?.['metadata'])?.['name']);
  return name !== undefined && isName(name) ? name : undefined;
}

function isName(text: string): boolean {
  return text.length <= NAME_LENGTH_MAX && NAME.test(text);
}

const NAME = new RegExp(NAME_PATTERN);

function textOf(value: Value | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
