import type { ResourceId } from './ids.ts';
import {
  arrayOf,
  described,
  literal,
  number,
  objectOf,
  ref,
  type Schema,
  string,
  text,
  time,
  type TypeOf,
} from './schema-words.ts';

const yes: Schema<true> = { type: 'boolean' };

export const shownLineSchema = objectOf('A resource, a part of one, or what no manifest names, as views show it.', {
  type: string('port, or what views call a kind.'),
  // A natural key, or the id of its resource.
  key: text,
  below: described(arrayOf(text), 'Keys of lines that it hangs below: the first of them that there is.'),
  // Lines without a rank are sorted by name.
  'rank?': number('Its place among lines of its type.'),
  // `Component/shop-web`; an object without a manifest has a descriptive name.
  name: text,
  // `http WEB, inner and outer`
  facts: string('Tells it from others, as it was observed.'),
  // The resource that gives the line its state. Absent: there is no manifest.
  'resource?': text as Schema<ResourceId>,
  // The path that changes use: `ports[8080]`.
  'part?': string('Its path in the manifest of the resource.'),
  // The platform does not have the part.
  'isMissing?': yes,
  // Set if the state does not depend on that of the resource.
  'state?': literal('withdrawn', 'not-in-manifests', 'unknown'),
  // The reason, where the plan has none.
  'reason?': text,
  // It represents an object that may have its own line, which takes precedence.
  'isStandIn?': yes,
});
/** One line that a kind shows of an application: a resource, a part of one, or an object without a manifest. */
export type ShownLine = TypeOf<typeof shownLineSchema>;

export const observedSchema = objectOf('What was seen of an application when it was observed last.', {
  atMs: time,
  lines: arrayOf(ref<ShownLine>('ShownLine')),
  'unnamedLeftOut?': number('Lines beyond the first 100 that no manifest names, which are not kept.'),
});
export type Observed = TypeOf<typeof observedSchema>;
