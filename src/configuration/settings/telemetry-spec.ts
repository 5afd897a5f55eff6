import { arrayOf, number, objectOf, string, type TypeOf } from '../../model/schema-words.ts';
import { URL_RULES } from '../../kinds/schema.ts';
import { headerName, secretReference } from '../platform/spec.ts';

/** Traces over OTLP/HTTP as JSON; without an endpoint, none are sent. */
const tracesSchema = objectOf(
  'Traces of readings of the source, passes, plans and actions.',
  {
    'endpoint?': string(
      'Base address of an OTLP/HTTP collector; OTEL_EXPORTER_OTLP_ENDPOINT says the same where this is not set.',
      URL_RULES,
    ),
    headers: arrayOf(
      objectOf('One header.', {
        name: headerName('Name of the header.'),
        value: secretReference('Value of the header, whole, by reference.'),
      }),
      { maxItems: 20, default: [], description: 'Headers that are sent to the collector.' },
    ),
    sampleShare: number('Share of the passes that are traced; those with a failure always are.', {
      minimum: 0,
      maximum: 1,
      default: 1,
    }),
  },
  { default: {} },
);

export type TracesSpec = TypeOf<typeof tracesSchema>;

/** JSON Schema of `spec.telemetry` of Settings. */
export const telemetrySchema = objectOf(
  'What is told to collectors of traces. Metrics need nothing: they are read at /metrics.',
  { traces: tracesSchema },
  { default: {} },
);
