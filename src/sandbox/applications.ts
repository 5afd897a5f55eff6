import { bare, refused } from './answers.ts';
import { checkFields } from './body.ts';
import type { ApplicationCall, Call, ComponentCall, TeamCall } from './call.ts';
import { accessInfos, applicationFields, applicationRecord, componentRecord, regionRecord } from './records.ts';
import { type ApplicationRow, portKey, type SandboxState } from './state.ts';
import type { Answer } from './wire.ts';

/** 4.1: every region, whatever its status. */
export function listRegions({ state }: Call): Answer {
  return bare([...state.regions.all()].map(regionRecord));
}

/** 4.6 */
export function getApplication(call: ApplicationCall): Answer {
  return bare(applicationRecord(call.state, call, call.context.nowMs, call.context.dialect));
}

/** Extended: the applications of a team in a region; `query` narrows by name. */
export function listApplications(call: TeamCall): Answer {
  const { state, team, region, request } = call;
  const wanted = request.query['query'] ?? '';
  const rows = state.applications
    .in('team', team.id)
    .filter((row) => row.region === region.name && row.name.includes(wanted));
  return bare(rows.map((row) => summaryOf(call, row)));
}

/** Extended: 201. A name is taken once per team and region. */
export function createApplication(call: TeamCall): Answer {
  const { state, team, region, context } = call;
  const checked = checkFields(call.body, {
    app_name: { type: 'text', required: true, maxLength: 128 },
    app_note: { type: 'text', blank: true, maxLength: 2048 },
    k8s_app: { type: 'text', maxLength: 63 },
  });
  if ('answer' in checked) return checked.answer;
  const name = checked.fields.text('app_name') ?? '';
  const siblings = state.applications.in('team', team.id).filter((row) => row.region === region.name);
  if (siblings.some((row) => row.name === name)) return refused(400, 'app name exist', '应用名称已存在');
  const k8sApp = checked.fields.text('k8s_app') ?? `app-${context.newId().slice(0, 6)}`;
  if (!serviceNamePattern.test(k8sApp)) {
    return refused(400, `regex used for validation is '${serviceNamePattern.source}'`, '应用英文名称格式不正确');
  }
  if (siblings.some((row) => row.k8sApp === k8sApp)) return refused(400, 'app k8s name exist', '应用英文名已存在');
  const application: ApplicationRow = {
    id: state.nextNumber('application'),
    teamId: team.id,
    region: region.name,
    name,
    k8sApp,
    note: checked.fields.text('app_note') ?? '',
    createdMs: context.nowMs,
    updatedMs: context.nowMs,
  };
  state.applications.put(application);
  return bare(summaryOf(call, application), 201);
}

const serviceNamePattern = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

function summaryOf(call: TeamCall, row: ApplicationRow): object {
  return { ID: row.id, ...applicationFields(row, call.state.facts, call.context.dialect) };
}

/** Extended: the components of an application, in no promised order. */
export function listComponents(call: ApplicationCall): Answer {
  return bare(componentRecords(call));
}

/** Moves a component and its rules to another application, as the console does. */
export function moveComponent(state: SandboxState, componentId: string, appId: number): void {
  const component = state.components.get(componentId);
  if (component === undefined || state.applications.get(String(appId)) === undefined) return;
  state.components.put({ ...component, appId });
  for (const port of state.ports.in('component', componentId)) {
    for (const rule of state.rules.in('port', portKey(componentId, port.port))) state.rules.put({ ...rule, appId });
  }
}

/** Extended: the only answer with `access_infos`. */
export function getComponent(call: ComponentCall): Answer {
  const { state, component, region, context } = call;
  const record = componentRecord(component, { ...context, reachable: region.reachable });
  return bare({ ...record, access_infos: accessInfos(state, component, region) });
}

/** Every component of the application, as the listing and the answer to an install have them. */
export function componentRecords({ state, application, region, context }: ApplicationCall): readonly object[] {
  const place = { nowMs: context.nowMs, dialect: context.dialect, reachable: region.reachable };
  return state.components.in('application', String(application.id)).map((row) => componentRecord(row, place));
}
