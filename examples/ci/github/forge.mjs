/**
 * The requests of the action and the workflows to GitHub: one comment on a pull request, and digests of plans as commit
 * statuses. Needs Node 24 and nothing else; the runner sets every variable but GITHUB_TOKEN and
 * PORTOLAN_SOURCE.
 *
 *   outputs REPORTS CODE       prints the outputs of the plan in a folder of reports
 *   comment FILE               writes the comment of the pull request, or brings it up to date
 *   record DIGEST APPROVALS    writes the digest of the plan, and that of each application, on the head of the pull request
 *   reviewed [APPLICATIONS]    prints the digest that was written for the pull request that the pushed commit came from;
 *                              for the approvals of its applications, `reviewed applications`
 *   current                    ends with 4 if the run was started again and its commit is not the newest of the branch any more
 *   waiting APPLICATION        reads `portolan status --output json`; prints the digest that waits for an approval, or, of
 *                              the pushed commit or a later one: `done` if the application matches it, `unheld` if it
 *                              needs no approval and the controller carries it out, `paused`, `failing` if it fails or waits
 *                              for a person; `running` during a pass; else `nothing`
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { json } from 'node:stream/consumers';

const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_EVENT_PATH, GITHUB_REF_NAME, GITHUB_RUN_ATTEMPT } = process.env;
const { GITHUB_SHA, GITHUB_TOKEN, PORTOLAN_SOURCE } = process.env;
const CONTEXT = 'portolan/plan';
const DIGEST = /^[0-9a-f]{64}$/;
/** Anyone who can write a status chooses its context: accept only names that an application can have. */
const APPLICATION = /^portolan\/plan\/([a-z0-9][a-z0-9.-]*)$/;
const MANUALLY = 'Plan the branch, review the plan, and start this workflow manually with its digest.';
const HOW = `, so it is unknown which plan was reviewed. ${MANUALLY}`;

const commands = { outputs, comment, record, reviewed, current, waiting };
const [name = '', ...values] = process.argv.slice(2);
if (!Object.hasOwn(commands, name)) fail(`unknown command ${name}`);
await commands[name](...values);

/** Values have no line ends: a digest, a number and paths. */
function outputs(reports, code) {
  const file = join(reports, 'plan.json');
  const plan = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  const approvals = join(reports, 'approvals.txt');
  writeFileSync(approvals, plan === undefined ? '' : approvalsOf(plan));
  const { create = 0, update = 0, delete: removals = 0, deferred = 0 } = plan?.summary ?? {};
  const written = join(reports, 'comment.md');
  // The comment of an earlier commit must not stand as if it were the plan of this one.
  if (!existsSync(written)) writeFileSync(written, noPlan(code));
  const values = {
    'exit-code': code,
    changes: create + update + removals + deferred > 0,
    digest: plan?.digest ?? '',
    comment: written,
    approvals,
    reports,
  };
  for (const [key, value] of Object.entries(values)) console.log(`${key}=${value}`);
}

function noPlan(code) {
  const why = `\`portolan plan\` ended with ${code}. See the log and the annotations of the run for the reason.`;
  return `<!-- portolan:plan:${encodeURIComponent(PORTOLAN_SOURCE)} -->\n\n### No plan\n\n${why}\n`;
}

function approvalsOf({ scopes }) {
  return scopes
    .filter(({ actions, deferred }) => actions.length + deferred.length > 0)
    .map(({ application, digest }) => `${application.replace(/^Application\//, '')} ${digest}\n`)
    .join('');
}

/** Found again by the marker that plans as Markdown begin with, among what the same token wrote. */
async function comment(file) {
  const body = readFileSync(file, 'utf8');
  const marker = body.slice(0, body.indexOf('\n'));
  if (!/^<!-- portolan:plan:\S* -->$/.test(marker)) fail(`${file} does not begin with a marker`);
  const { number } = pullRequest();
  for (let page = 1; ; page += 1) {
    const comments = await ask('GET', `issues/${number}/comments?per_page=100&page=${page}`);
    const mine = comments.find((one) => one.user?.type === 'Bot' && one.body?.startsWith(marker));
    if (mine !== undefined) return ask('PATCH', `issues/comments/${mine.id}`, { body });
    if (comments.length < 100) return ask('POST', `issues/${number}/comments`, { body });
  }
}

async function record(digest, approvals) {
  const { sha } = pullRequest().head;
  const write = (context, description) => ask('POST', `statuses/${sha}`, { state: 'success', context, description });
  for (const [application, one] of linesOf(readFileSync(approvals, 'utf8')))
    await write(`${CONTEXT}/${application}`, one);
  await write(CONTEXT, digest);
}

async function reviewed(what) {
  const merged = await ask('GET', `commits/${GITHUB_SHA}/pulls`);
  const [pull, second] = merged.filter((one) => one.merge_commit_sha === GITHUB_SHA);
  if (pull === undefined || second !== undefined) fail(`no pull request was merged as ${GITHUB_SHA}${HOW}`);
  // Newest first: a plan that was made again stands before the one it replaces.
  const newest = new Map();
  for (let page = 1; ; page += 1) {
    const statuses = await ask('GET', `commits/${pull.head.sha}/statuses?per_page=100&page=${page}`);
    for (const { context, description, state } of statuses)
      if (state === 'success' && DIGEST.test(description) && !newest.has(context)) newest.set(context, description);
    if (statuses.length < 100) break;
  }
  const digest = newest.get(CONTEXT);
  if (digest === undefined) fail(`pull request ${pull.number} has no plan on its last commit${HOW}`);
  if (what !== 'applications') return console.log(digest);
  for (const [context, one] of newest) {
    const [, application] = APPLICATION.exec(context) ?? [];
    if (application !== undefined) console.log(`${application} ${one}`);
  }
}

/** A run that is started again keeps its commit. Its reviewed plan may undo a later merge, with the same digest. */
async function current() {
  if (Number(GITHUB_RUN_ATTEMPT) === 1) return;
  const { sha } = await ask('GET', `commits/${encodeURIComponent(GITHUB_REF_NAME)}`);
  if (sha === GITHUB_SHA) return;
  fail(`this run is of ${GITHUB_SHA}, and ${GITHUB_REF_NAME} is at ${sha} by now. Nothing was sent. ${MANUALLY}`, 4);
}

async function waiting(application) {
  const { applications } = await json(process.stdin);
  const one = applications.find(({ id }) => id === `Application/${application}`);
  console.log(one === undefined ? 'nothing' : (one.approval?.digest ?? (await standing(one))));
}

async function standing({ conditions, lastAppliedRevision, lastAttemptedRevision, lastError, pause }) {
  if (await hasCommit(lastAppliedRevision)) return 'done';
  if (conditions.some(({ type, reason }) => type === 'Reconciling' && reason === 'Running')) return 'running';
  if (!(await hasCommit(lastAttemptedRevision))) return 'nothing';
  if (pause !== null) return 'paused';
  const isStalled = conditions.some(({ type, status }) => type === 'Stalled' && status === 'True');
  return lastError !== null || isStalled ? 'failing' : 'unheld';
}

/** @param revision `main@sha1:<id>`, or null. Returns whether the pushed commit is this one, or one before it. */
async function hasCommit(revision) {
  const [, sha] = /:([0-9a-f]+)$/.exec(revision ?? '') ?? [];
  if (sha === undefined || sha === GITHUB_SHA) return sha !== undefined;
  const { status } = await ask('GET', `compare/${GITHUB_SHA}...${sha}?per_page=1`);
  return status === 'ahead';
}

function linesOf(text) {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ')]));
}

function pullRequest() {
  const { pull_request: pull } = JSON.parse(readFileSync(GITHUB_EVENT_PATH, 'utf8'));
  return pull ?? fail('this workflow was not started by a pull request');
}

async function ask(method, path, body) {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/${path}`, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${GITHUB_TOKEN}`,
      'content-type': 'application/json',
      'x-github-api-version': '2022-11-28',
    },
    signal: AbortSignal.timeout(30_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.ok) return response.json();
  return fail(`${method} ${path} was answered with ${response.status}; the token may lack a permission of the job`);
}

function fail(message, code = 1) {
  console.error(`portolan: ${message}`);
  process.exit(code);
}
