import { Environment } from '@marcbachmann/cel-js';
import type { JsonObject } from '../model/json.ts';
import { planSchemas } from '../model/plan-document.ts';
import type { PolicySpec } from './spec.ts';

/**
 * Limits of the parser. A policy is a few lines; deeper or longer ones are mistakes. The time of an evaluation is limited by
 * `evaluate.ts`.
 */
const LIMITS = { maxAstNodes: 2000, maxDepth: 40, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 32 };

const environments = new Map<PolicySpec['subject'], Environment>();

/** Returns the variables and types of expressions about a subject. Made once, because it takes milliseconds. */
export function environmentOf(subject: PolicySpec['subject']): Environment {
  const known = environments.get(subject);
  if (known !== undefined) return known;
  const environment = new Environment({ enableOptionalTypes: true, limits: LIMITS })
    .registerType('Metadata', {
      fields: { name: 'string', labels: 'map<string, string>', annotations: 'map<string, string>' },
    })
    // A spec differs between kinds, so its fields are checked when the expression is evaluated.
    .registerType('Manifest', { fields: { apiVersion: 'string', kind: 'string', metadata: 'Metadata', spec: 'dyn' } })
    .registerVariable('siblings', 'list<Manifest>');
  if (subject === 'manifest') environment.registerVariable('manifest', 'Manifest');
  else registerPlan(environment);
  environments.set(subject, environment);
  return environment;
}

/** Registers the variable `plan` with the types of the published JSON Schema. */
function registerPlan(environment: Environment): void {
  const schemas = new Map(Object.entries<JsonObject>(planSchemas));
  const types = new CelTypes(environment, schemas);
  environment.registerVariable('plan', types.of({ $ref: '#/components/schemas/Plan' }, ''));
}

/** Registers a CEL type for each object of a JSON Schema. */
class CelTypes {
  readonly #environment: Environment;
  readonly #schemas: ReadonlyMap<string, JsonObject>;
  readonly #known = new Set<string>();

  constructor(environment: Environment, schemas: ReadonlyMap<string, JsonObject>) {
    this.#environment = environment;
    this.#schemas = schemas;
  }

  /** Returns the CEL type of a schema. @param name a name for the type of an object without one. */
  of(schema: JsonObject, name: string): string {
    const { $ref: reference } = schema;
    if (typeof reference === 'string') {
      const target = reference.slice(reference.lastIndexOf('/') + 1);
      return this.of(this.#schemas.get(target) ?? {}, target);
    }
    switch (schema['type']) {
      case 'string':
        return 'string';
      case 'boolean':
        return 'bool';
      case 'integer':
        return 'int';
      case 'array':
        return `list<${this.of(schema['items'] as JsonObject, `${name}Item`)}>`;
      case 'object':
        return this.#ofObject(schema, name);
      default:
        // Any JSON, one of several types, or a number, which is an int or a double.
        return 'dyn';
    }
  }

  #ofObject(schema: JsonObject, name: string): string {
    if (schema['additionalProperties'] !== false) return 'map<string, dyn>';
    if (this.#known.has(name)) return name;
    this.#known.add(name);
    const properties = Object.entries(schema['properties'] as Readonly<Record<string, JsonObject>>);
    const fields = properties.map(([key, field]) => [key, this.of(field, `${name}${capitalized(key)}`)] as const);
    this.#environment.registerType(name, { fields: Object.fromEntries(fields) });
    return name;
  }
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
