import { createConfig, lintFromString } from '@redocly/openapi-core';

/**
 * What a linter for OpenAPI recommends and our documents do otherwise.
 * `operation-4xx-response`: every failure has the same form, so each operation describes it once, as `default`.
 */
const EXCEPTIONS = { 'operation-4xx-response': 'off' } as const;

/** Returns what a linter says against a document, warnings included: `rule: message (place)`. */
export async function lintOpenApi(document: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules: EXCEPTIONS });
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: '/openapi.json',
    config,
  });
  return problems.map(({ ruleId, message, location: [place] }) => `${ruleId}: ${message} (${place?.pointer ?? ''})`);
}
