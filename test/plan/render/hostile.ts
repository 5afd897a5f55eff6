import { resourceId } from '../../../src/model/ids.ts';
import type { FieldChange, ScopePlan } from '../../../src/model/plan.ts';
import { type PlanDocument, planDocument } from '../../../src/plan/document.ts';
import type { PlanReport } from '../../../src/plan/report.ts';
import { actionOf, planOf } from '../plans.ts';

/** A report of these applications and nothing else. */
export function reportOf(
  scopes: readonly ScopePlan[],
  facts: Partial<Omit<PlanDocument, 'scopes' | 'formatVersion' | 'digest' | 'summary'>> = {},
): PlanReport {
  const plan = planDocument({
    source: 'default',
    revision: null,
    ledger: 'known',
    scopes,
    unobserved: [],
    refusals: [],
    notes: [],
    ...facts,
  });
  return { plan, applied: undefined };
}

/** A report in which this text stands wherever a text of manifests or of a platform can stand. */
export function saying(text: string): PlanReport {
  const resource = resourceId('HttpGatewayRule', text);
  const change: FieldChange = { path: text, before: text, after: [text], lastApplied: text, cause: 'drift' };
  const scope = planOf({
    application: resourceId('Application', text),
    actions: [
      actionOf({ resource, summary: text, changes: [change], effects: [text], cause: 'git+drift' }),
      actionOf({ id: 'b', resource, verb: 'delete', summary: text, changes: [{ ...change, before: text }] }),
    ],
    deferred: [{ resource, waitsFor: resource, desired: text, summary: text }],
    holds: [{ code: 'rule/not-ours', resource, message: text, remedy: text, changes: [change] }],
    notes: [{ code: 'rule/orphaned', resource, message: text, changes: [change] }],
    inSync: [resource],
  });
  return reportOf([scope], {
    source: text,
    revision: text,
    unobserved: [
      { application: `Application/x${text}`, code: 'x/y', disposition: 'give-up', message: text, remedy: text },
    ],
    refusals: [{ code: 'guard/share', message: text, override: text }],
    notes: [{ code: 'x/z', message: text }],
  });
}

/** What would do harm, or break the text it stands in, in one format or another. */
export const HOSTILE: readonly string[] = [
  '<script>document.title="taken"</script><img src=x onerror=document.title="taken">',
  '"\'><svg onload=document.title="taken">',
  '</details></code></summary></style><h1>taken</h1>',
  '--><h1>taken</h1><!--',
  '` ``` ```` `` @octocat #1 GH-1 owner/repo#2 a@example.com',
  '| a | b |\n|--|--|\n\n# heading\n\n- item\n\n```\n::error::x',
  '[link](https://evil.example.com) ![pic](https://evil.example.com/x.png) https://evil.example.com www.evil.example.com :x:',
  '**bold** _em_ ~~gone~~ $a$ \\ \\| \\`',
  '\n::error file=x::taken\n::set-output name=a::b\r::add-mask::x ##[error]taken',
  '%0A::error::taken, a:b,c=d 100%',
  ']]> &amp; &lt; \u0000 \u0008 \uffff \ud800 \u202e \u001b[31m',
  '1. one',
  '- minus',
  '---',
  '> [!CAUTION]',
];
