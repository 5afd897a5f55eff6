import { resourceIdSchema as id } from './ids.ts';
import * as s from './schema-words.ts';
import { UNITS } from './units.ts';

/** The monitoring series of an application with the changes of the same time: types, and the JSON Schemas of the API. */

const monitoredSchema = s.objectOf('A component that reports monitoring history.', {
  serviceId: s.text,
  name: s.text,
  alias: s.text,
});
export type MonitoredName = s.TypeOf<typeof monitoredSchema>;

const seriesSchema = s.objectOf('One series of one component.', {
  serviceId: s.text,
  item: s.text,
  // From 1. An item can have several series, for which the platform has no names.
  number: s.count,
  // Guessed from the name of the item, because the platform names no units.
  unit: s.literal(...UNITS),
  // The status in the answer of the platform.
  status: s.nullable(s.text),
  // One value for each step from `fromMs` on. null: no sample, which is never a zero.
  values: s.arrayOf(s.nullable({ type: 'number' } as s.Schema<number>)),
});
export type MonitoringSeries = s.TypeOf<typeof seriesSchema>;

const markSchema = s.objectOf('A change or a drift in the time of the series.', {
  atMs: s.time,
  // `change`: by Portolan. `drift`: by another user or tool. `corrected`: the end of a drift. `other`: a decision of a user.
  type: s.literal('change', 'drift', 'corrected', 'other'),
  resource: s.nullable(id),
  // The commit that caused a change.
  revision: s.nullable(s.text),
  message: s.text,
});
/** A mark on a chart. */
export type MonitoringMark = s.TypeOf<typeof markSchema>;

const monitoringSchema = s.objectOf('The monitoring history of an application.', {
  application: id,
  scope: s.text,
  // The time of the first value of each series.
  fromMs: s.time,
  // The time of the last value.
  toMs: s.time,
  stepMs: s.count,
  // `region`: the metrics of the region. `application`: the documented endpoint, from which a real server loses samples.
  source: s.literal('region', 'application'),
  // The answer has series, and none of them has a sample.
  samplesLost: s.trueOrFalse,
  // When the platform was asked. Requests of the same time share one answer for a few seconds.
  readMs: s.time,
  // All components with monitoring history; `series` may be those of one of them.
  components: s.arrayOf(monitoredSchema),
  series: s.arrayOf(s.ref<MonitoringSeries>('MonitoringSeries')),
  // Oldest first.
  marks: s.arrayOf(s.ref<MonitoringMark>('MonitoringMark')),
  // false: there are more marks in this time; the newest are listed.
  marksComplete: s.trueOrFalse,
});
export type MonitoringHistory = s.TypeOf<typeof monitoringSchema>;

/** The schemas of the API, by name. */
export const monitoringSchemas = {
  Monitoring: monitoringSchema,
  MonitoringSeries: seriesSchema,
  MonitoringMark: markSchema,
};
