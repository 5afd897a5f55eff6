/** A JSON Schema 2020-12, as OpenAPI 3.1 has them. */
export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
export const integer: Schema = { type: 'integer' };
export const flag: Schema = { type: 'boolean' };
export const textOrNull: Schema = { type: ['string', 'null'] };
export const integerOrNull: Schema = { type: ['integer', 'null'] };
export const id: Schema = { type: 'string', description: '32 lower-case hex characters' };
export const protocol: Schema = { type: 'string', enum: ['tcp', 'http', 'mysql', 'grpc', 'udp'] };

export function list(items: Schema): Schema {
  return { type: 'array', items };
}

export function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object with exactly these members; those in `optional` may be absent. */
export function record(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

/** A request body: unknown members are ignored by the server, so the schema allows them. */
export function request(properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema {
  return { type: 'object', properties, required };
}
