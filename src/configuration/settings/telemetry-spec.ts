import type { SecretReference } from '../platform/spec.ts';
import { type PropertiesOf, secretReferenceSchema, URL_EXPECTED, URL_PATTERN } from '../../kinds/schema.ts';

/** `spec.telemetry` of the operator's `kind: Settings`. */
export interface TelemetrySpec {
  readonly traces: TracesSpec;
}

/** Traces over OTLP/HTTP as JSON; none without an endpoint. */
export interface TracesSpec {
  /** Base address of a collector; `/v1/traces` is added. */
  readonly endpoint?: string;
  readonly headers: readonly { readonly name: string; readonly value: SecretReference }[];
  /** Share of the passes that are traced, 0 to 1. */
  readonly sampleShare: number;
}

/** JSON Schema of `TelemetrySpec`. */
export const telemetrySchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  description: 'What is told to collectors of traces. Metrics need nothing: they are read at /metrics.',
  properties: {
    traces: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'Traces of readings of the source, passes, plans and actions.',
      properties: {
        endpoint: {
          type: 'string',
          pattern: URL_PATTERN,
          maxLength: 2048,
          description:
            'Base address of an OTLP/HTTP collector; OTEL_EXPORTER_OTLP_ENDPOINT says the same where this is not set.',
          'x-expected': URL_EXPECTED,
        },
        headers: {
          type: 'array',
          maxItems: 20,
          default: [],
          description: 'Headers that are sent to the collector.',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['name', 'value'],
            description: 'One header.',
            properties: {
              name: {
                type: 'string',
                pattern: '^[A-Za-z0-9-]+$',
                maxLength: 128,
                description: 'Name of the header.',
                'x-expected': 'the name of a header: letters, digits and -',
              },
              value: { ...secretReferenceSchema, description: 'Value of the header, whole, by reference.' },
            },
          },
        },
        sampleShare: {
          type: 'number',
          minimum: 0,
          maximum: 1,
          default: 1,
          description: 'Share of the passes that are traced; those with a failure always are.',
        },
      },
    },
  } satisfies PropertiesOf<TelemetrySpec>,
} as const;
