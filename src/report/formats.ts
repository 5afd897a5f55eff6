import type { PlanReport } from '../plan/report.ts';
import type { PositionOf } from './findings.ts';
import { headline } from './headline.ts';
import type { Paint, PlanStyle } from './text.ts';

/** The output formats of a plan, and of a plan with its results. */
export const PLAN_FORMATS = [
  'text',
  'json',
  'jsonl',
  'yaml',
  'markdown',
  'github',
  'gitlab',
  'sarif',
  'junit',
  'html',
] as const;
export type PlanFormat = (typeof PLAN_FORMATS)[number];

/** Everything that a format needs besides the report. */
export interface RenderContext {
  readonly positionOf: PositionOf;
  /** The version of Portolan. */
  readonly version: string;
  /** The colours of `text`. */
  readonly paint: Paint;
  /** The form of a plan as `text`. */
  readonly style?: PlanStyle;
}

type Renderer = (report: PlanReport, context: RenderContext) => Promise<string>;

/** Each renderer is loaded at its first use, so that a command which prints text does not load the others. */
const RENDERERS: Readonly<Record<PlanFormat, Renderer>> = {
  text: async (report, { paint, style }) => (await import('./account.ts')).renderReportText(report, paint, style),
  json: async (report) => `${JSON.stringify((await import('../plan/report.ts')).reportDocument(report), null, 2)}\n`,
  jsonl: async (report, { version }) => (await import('./jsonl.ts')).renderJsonl(report, version),
  yaml: async (report) => (await import('./yaml.ts')).renderYaml(report),
  markdown: async (report) => (await import('./markdown.ts')).renderMarkdown(report),
  github: async (report, { positionOf }) => {
    const [{ renderGithub }, { findingsOf }] = await Promise.all([import('./github.ts'), import('./findings.ts')]);
    return renderGithub(findingsOf(report, positionOf), headline(report));
  },
  gitlab: async (report, { positionOf }) => {
    const [{ renderGitlab }, { findingsOf }] = await Promise.all([import('./gitlab.ts'), import('./findings.ts')]);
    return renderGitlab(findingsOf(report, positionOf));
  },
  sarif: async (report, { positionOf, version }) => {
    const [{ renderSarif }, { findingsOf }] = await Promise.all([import('./sarif.ts'), import('./findings.ts')]);
    return renderSarif(findingsOf(report, positionOf), { version, run: `plan/${report.plan.source}` });
  },
  junit: async (report, { positionOf }) => {
    const { renderJunit, reportSuites } = await import('./junit.ts');
    return renderJunit(reportSuites(report, positionOf));
  },
  html: async (report, { version }) => (await import('./html.ts')).renderHtml(report, version),
};

export function renderReport(report: PlanReport, format: PlanFormat, context: RenderContext): Promise<string> {
  return RENDERERS[format](report, context);
}
