import type { ResourceId } from './ids.ts';
import * as s from './schema-words.ts';

const yes: s.Schema<true> = { type: 'boolean' };

export const shownLineSchema = s.objectOf(
  'A line of a view: a resource, a part of one, or an object without a manifest.',
  {
    type: s.string('port, or the noun that views use for a kind.'),
    // A natural key, or the id of its resource.
    key: s.text,
    below: s.described(s.arrayOf(s.text), 'Keys of possible parent lines. The first one that exists is the parent.'),
    // Lines without a rank are sorted by name.
    'rank?': s.number('Position among the lines of its type.'),
    // `Component/shop-web`; an object without a manifest has a descriptive name.
    name: s.text,
    // `http WEB, inner and outer`
    facts: s.string('Observed facts that distinguish it from other lines.'),
    // The resource that gives the line its state. Absent: there is no manifest.
    'resource?': s.text as s.Schema<ResourceId>,
    // The path that changes use: `ports[8080]`.
    'part?': s.string('Path in the manifest of the resource.'),
    // Set if the part does not exist on the platform.
    'isMissing?': yes,
    // Set if the state does not depend on that of the resource.
    'state?': s.literal('withdrawn', 'not-in-manifests', 'unknown'),
    // The reason, where the plan has none.
    'reason?': s.text,
    // It represents an object that may have its own line, which takes precedence.
    'isStandIn?': yes,
  },
);
/** One line that a kind shows of an application: a resource, a part of one, or an object without a manifest. */
export type ShownLine = s.TypeOf<typeof shownLineSchema>;

export const observedSchema = s.objectOf('The last observation of an application.', {
  atMs: s.time,
  lines: s.arrayOf(s.ref<ShownLine>('ShownLine')),
  'unnamedLeftOut?': s.number('Number of lines without a manifest beyond the first 100, which are not stored.'),
});
export type Observed = s.TypeOf<typeof observedSchema>;
