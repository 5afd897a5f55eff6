import { arrayOf, number, objectOf, section, string, type TypeOf } from '../../model/schema-words.ts';
import { URL_RULES } from '../../kinds/schema.ts';
import { headerName, secretReference } from '../platform/spec.ts';

/** Traces over OTLP/HTTP as JSON; without an endpoint, none are sent. */
const tracesSchema = section('Traces of source readings, passes, plans and actions.', {
  'endpoint?': string(
    'Base address of an OTLP/HTTP collector. Without it, OTEL_EXPORTER_OTLP_ENDPOINT is used.',
    URL_RULES,
  ),
  headers: arrayOf(
    objectOf('One header.', {
      name: headerName('Name of the header.'),
      value: secretReference('The whole value of the header, by reference.'),
    }),
    { maxItems: 20, default: [], description: 'Headers for the collector.' },
  ),
  sampleShare: number('Share of the passes that are traced. Passes with a failure are always traced.', {
    minimum: 0,
    maximum: 1,
    default: 1,
  }),
});

export type TracesSpec = TypeOf<typeof tracesSchema>;

/** JSON Schema of `spec.telemetry` of Settings. */
export const telemetrySchema = section('Traces. Metrics need no settings: they are read at /metrics.', {
  traces: tracesSchema,
});
