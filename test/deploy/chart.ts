import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { renderTemplate } from './helm.ts';
import type { Part } from './kubernetes.ts';

export const DEPLOY = 'examples/deploy';
export const read = (...path: string[]): string => readFileSync(join(DEPLOY, ...path), 'utf8');

/** Returns the objects of a file. */
export function documents(text: string): Part[] {
  return parseAllDocuments(text, { uniqueKeys: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Part;
  });
}

export const kustomization = parse(read('kubernetes', 'kustomization.yaml')) as Part;
/** The objects of the plain manifests. */
export const plain: Part[] = kustomization.resources.flatMap((file: string) => documents(read('kubernetes', file)));

const chart = parse(read('helm', 'Chart.yaml')) as Part;
export const given = parse(read('helm', 'values.yaml')) as Part;

/** Returns the objects of the chart with changed values. */
export function rendered(change: (values: Part) => void = () => {}): Part[] {
  const values = structuredClone(given);
  values.image.repository = 'registry.example.com/portolan';
  values.git.repo = 'https://git.example.com/acme/shop.git';
  change(values);
  const context = {
    Values: values,
    Release: { Name: 'charted', Namespace: 'apps' },
    Chart: { AppVersion: chart.appVersion },
  };
  return readdirSync(join(DEPLOY, 'helm', 'templates'))
    .sort()
    .flatMap((file) => documents(renderTemplate(read('helm', 'templates', file), context)))
    .filter((one) => one !== null);
}
