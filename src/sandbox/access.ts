import { refused } from './answers.ts';
import type { ApplicationRow, ComponentRow, RegionRow, SandboxState, TeamRow } from './state.ts';
import type { Answer } from './wire.ts';

type Found<T> = { readonly found: T } | { readonly answer: Answer };

/** A team by id or by name. */
export function findTeam(state: SandboxState, given: string): Found<TeamRow> {
  const team = state.teams.get(given) ?? state.teams.in('name', given)[0];
  return team === undefined ? { answer: refused(404, 'no found team', '团队不存在') } : { found: team };
}

/** A region by name only; it must be enabled and the team must be set up in it. */
export function findRegion(state: SandboxState, team: TeamRow, given: string): Found<RegionRow> {
  const region = state.regions.get(given);
  if (region === undefined) return { answer: refused(404, 'the region is not found', '集群不存在', 3000) };
  if (region.status !== '1' || !team.regions.includes(region.name)) {
    return { answer: refused(409, 'the team is not initialized in the region', '团队未在该集群中初始化', 2001) };
  }
  return { found: region };
}

export function findApplication(
  state: SandboxState,
  team: TeamRow,
  region: RegionRow,
  given: string,
): Found<ApplicationRow> {
  const application = state.applications.get(given);
  if (application === undefined || application.teamId !== team.id || application.region !== region.name) {
    return { answer: refused(404, 'no found app', '应用不存在') };
  }
  return { found: application };
}

/**
 * A component by id or by alias. It must be of this application, which the server checks only while the application
 * has components: by way of one that has none, every component of the team is found, and writes to it happen.
 */
export function findComponent(state: SandboxState, application: ApplicationRow, given: string): Found<ComponentRow> {
  const { teamId, region } = application;
  const byId = state.components.get(given);
  const component = byId?.teamId === teamId ? byId : state.components.in('alias', `${teamId} ${given}`)[0];
  if (component === undefined || component.region !== region) {
    return { answer: refused(404, 'no found component', '组件不存在') };
  }
  if (component.appId !== application.id && state.components.in('application', String(application.id)).length > 0) {
    return { answer: refused(404, 'component not belong to this app', '组件不属于指定应用') };
  }
  return { found: component };
}
