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
  // Without it, by name.
  'rank?': number('Its place among lines of its type.'),
  // `Component/shop-web`; what has no manifest is named by what it is.
  name: text,
  // `http WEB, inner and outer`
  facts: string('Tells it from others, as it was observed.'),
  // The one whose state it has. Absent: no manifest names it.
  'resource?': text as Schema<ResourceId>,
  // As changes name it: `ports[8080]`.
  'part?': string('Its path in the manifest of the resource.'),
  // The platform does not have the part.
  'isMissing?': yes,
  // Whatever the state of the resource is.
  'state?': literal('withdrawn', 'not-in-manifests', 'unknown'),
  // Said where the plan says nothing.
  'reason?': text,
  // It stands for what may have a line of its own, which takes precedence.
  'isStandIn?': yes,
});
/** One line that a kind shows of an application: a resource, a part of one, or what no manifest names. */
export type ShownLine = TypeOf<typeof shownLineSchema>;

export const observedSchema = objectOf('What was seen of an application when it was observed last.', {
  atMs: time,
  lines: arrayOf(ref<ShownLine>('ShownLine')),
  'unnamedLeftOut?': number('Lines beyond the first 100 that no manifest names, which are not kept.'),
});
export type Observed = TypeOf<typeof observedSchema>;
