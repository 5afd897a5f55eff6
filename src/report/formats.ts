import type { PlanReport } from '../plan/report.ts';
import type { PositionOf } from './findings.ts';
import { headline } from './headline.ts';
import type { Paint } from './text.ts';

/** Every way in which a plan, or a plan and what became of it, is written. */
export const PLAN_FORMATS = ['text', 'json', 'jsonl', 'yaml', 'markdown', 'github', 'sarif', 'junit', 'html'] as const;
export type PlanFormat = (typeof PLAN_FORMATS)[number];

/** What a format needs besides the report itself. */
export interface RenderContext {
  /** Where each resource stands in the manifests. */
  readonly positionOf: PositionOf;
  /** Of Portolan. */
  readonly version: string;
  /** Colours of `text`. */
  readonly paint: Paint;
}

type Renderer = (report: PlanReport, context: RenderContext) => string;

/** Each is loaded when it is asked for: a command that prints text need not read the others. */
const RENDERERS: Readonly<Record<PlanFormat, () => Promise<Renderer>>> = {
  text: async () => {
    const { renderReportText } = await import('./account.ts');
    return (report, { paint }) => renderReportText(report, paint);
  },
  json: async () => {
    const { reportDocument } = await import('../plan/report.ts');
    return (report) => `${JSON.stringify(reportDocument(report), null, 2)}\n`;
  },
  jsonl: async () => {
    const { renderJsonl } = await import('./jsonl.ts');
    return (report, { version }) => renderJsonl(report, version);
  },
  yaml: async () => {
    const { renderYaml } = await import('./yaml.ts');
    return renderYaml;
  },
  markdown: async () => {
    const { renderMarkdown } = await import('./markdown.ts');
    return renderMarkdown;
  },
  github: async () => {
    const [{ renderGithub }, { findingsOf }] = await Promise.all([import('./github.ts'), import('./findings.ts')]);
    return (report, { positionOf }) => renderGithub(findingsOf(report, positionOf), headline(report));
  },
  sarif: async () => {
    const [{ renderSarif }, { findingsOf }] = await Promise.all([import('./sarif.ts'), import('./findings.ts')]);
    return (report, { positionOf, version }) =>
      renderSarif(findingsOf(report, positionOf), { version, run: `plan/${report.plan.source}` });
  },
  junit: async () => {
    const { renderJunit, reportSuites } = await import('./junit.ts');
    return (report, { positionOf }) => renderJunit(reportSuites(report, positionOf));
  },
  html: async () => {
    const { renderHtml } = await import('./html.ts');
    return (report, { version }) => renderHtml(report, version);
  },
};

export async function renderReport(report: PlanReport, format: PlanFormat, context: RenderContext): Promise<string> {
  return (await RENDERERS[format]())(report, context);
}
