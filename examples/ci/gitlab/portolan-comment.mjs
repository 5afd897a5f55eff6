/**
 * Writes the plan as a comment on the merge request, or updates the comment of an earlier push. Needs Node 18 or newer and
 * nothing else; GitLab sets every variable but PORTOLAN_COMMENT_TOKEN.
 *
 *   node ci/portolan-comment.mjs FILE CODE      FILE: the plan as Markdown; CODE: the exit code of `portolan plan`
 */
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';

const { CI_API_V4_URL, CI_MERGE_REQUEST_PROJECT_ID, CI_MERGE_REQUEST_IID, PORTOLAN_COMMENT_TOKEN } = process.env;
const PORTOLAN_SOURCE = process.env.PORTOLAN_SOURCE ?? 'default';
/** The maximum number of pages of comments that are read. */
const PAGES_MAX = 50;

const [file = '', code = ''] = process.argv.slice(2);
const marker = `<!-- portolan:plan:${encodeURIComponent(PORTOLAN_SOURCE)} -->`;
// The comment of an earlier push must not look like the plan of this one.
const body = existsSync(file)
  ? readFileSync(file, 'utf8')
  : `${marker}\n\n### No plan\n\n\`portolan plan\` ended with ${code}. See the log of the job for the reason.\n`;
if (!body.startsWith(`${marker}\n`)) fail(`${file} does not begin with ${marker}`);

const { id: me } = await ask('GET', '/user');
const notes = `/projects/${CI_MERGE_REQUEST_PROJECT_ID}/merge_requests/${CI_MERGE_REQUEST_IID}/notes`;
const mine = await findOwnComment();
if (mine === undefined) await ask('POST', notes, { body });
else await ask('PUT', `${notes}/${mine.id}`, { body });

/** Only comments of the same user count: anyone can write the marker. */
async function findOwnComment() {
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const found = await ask('GET', `${notes}?sort=asc&order_by=created_at&per_page=100&page=${page}`);
    const own = found.find((note) => note.author?.id === me && !note.system && note.body?.startsWith(marker));
    if (own !== undefined || found.length < 100) return own;
  }
  return undefined;
}

async function ask(method, path, content) {
  const answer = await fetch(`${CI_API_V4_URL}${path}`, {
    method,
    headers: { 'private-token': PORTOLAN_COMMENT_TOKEN, 'content-type': 'application/json' },
    ...(content === undefined ? {} : { body: JSON.stringify(content) }),
    signal: AbortSignal.timeout(30_000),
  });
  if (!answer.ok) fail(`${method} ${path} was answered with ${answer.status}`);
  return answer.json();
}

function fail(message) {
  console.error(`portolan-comment: ${message}. The plan is in the artifacts of the job.`);
  process.exit(1);
}
