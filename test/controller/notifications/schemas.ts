/** The JSON format of CloudEvents 1.0.2, as its specification publishes it, with extension attributes held to their rules. */
export const cloudEventsSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['id', 'source', 'specversion', 'type'],
  properties: {
    id: { type: 'string', minLength: 1 },
    source: { type: 'string', format: 'uri-reference', minLength: 1 },
    specversion: { const: '1.0' },
    type: { type: 'string', minLength: 1 },
    datacontenttype: { type: ['string', 'null'], minLength: 1 },
    dataschema: { type: ['string', 'null'], format: 'uri', minLength: 1 },
    subject: { type: ['string', 'null'], minLength: 1 },
    time: { type: ['string', 'null'], format: 'date-time', minLength: 1 },
    data: { type: ['object', 'string', 'number', 'array', 'boolean', 'null'] },
    data_base64: { type: ['string', 'null'], contentEncoding: 'base64' },
  },
  // Names of attributes: lower-case letters and digits, 20 of them should do.
  propertyNames: { anyOf: [{ const: 'data_base64' }, { pattern: '^[a-z0-9]{1,20}$' }] },
  additionalProperties: { type: ['boolean', 'integer', 'string'] },
};

const common = { description: { type: 'string' }, target_url: { type: 'string', format: 'uri' } };

/** Bodies of "create a commit status", from the references of the three APIs. */
export const statusSchemas = {
  github: {
    type: 'object',
    required: ['state'],
    additionalProperties: false,
    properties: {
      ...common,
      description: { type: 'string', maxLength: 140 },
      state: { enum: ['error', 'failure', 'pending', 'success'] },
      context: { type: 'string', minLength: 1 },
    },
  },
  gitlab: {
    type: 'object',
    required: ['state'],
    additionalProperties: false,
    properties: {
      ...common,
      description: { type: 'string', maxLength: 255 },
      state: { enum: ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] },
      name: { type: 'string', minLength: 1 },
    },
  },
  gitea: {
    type: 'object',
    required: ['state'],
    additionalProperties: false,
    properties: {
      ...common,
      state: { enum: ['pending', 'success', 'error', 'failure', 'warning'] },
      context: { type: 'string', minLength: 1 },
    },
  },
};

/** `postableAlerts` of Alertmanager's API v2, as its OpenAPI document has it, with the rules for names of labels. */
export const alertsSchema = {
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    required: ['labels'],
    additionalProperties: false,
    properties: {
      labels: {
        type: 'object',
        required: ['alertname'],
        propertyNames: { pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$' },
        additionalProperties: { type: 'string', minLength: 1 },
      },
      annotations: { type: 'object', additionalProperties: { type: 'string' } },
      startsAt: { type: 'string', format: 'date-time' },
      endsAt: { type: 'string', format: 'date-time' },
      generatorURL: { type: 'string', format: 'uri' },
    },
  },
};

const slackText = { type: 'string', minLength: 1, maxLength: 3000 };

/** Legacy attachments of Slack's messages, which Mattermost, Rocket.Chat and Discord read, too. */
export const slackSchema = {
  type: 'object',
  required: ['attachments'],
  additionalProperties: false,
  properties: {
    attachments: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
        type: 'object',
        required: ['fallback', 'color', 'title', 'text', 'footer', 'ts'],
        additionalProperties: false,
        properties: {
          fallback: slackText,
          color: { enum: ['good', 'warning', 'danger'] },
          title: slackText,
          title_link: { type: 'string', format: 'uri' },
          text: slackText,
          fields: {
            type: 'array',
            items: {
              type: 'object',
              required: ['title', 'value', 'short'],
              additionalProperties: false,
              properties: { title: slackText, value: slackText, short: { type: 'boolean' } },
            },
          },
          footer: slackText,
          ts: { type: 'integer' },
        },
      },
    },
  },
};
