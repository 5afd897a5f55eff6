import type { ApplicationRow, ComponentRow, RegionRow, SandboxState, TeamRow } from './state.ts';
import type { Answer, SandboxContext, SandboxRequest } from './wire.ts';

/** One request on its way to an operation: routed, allowed, its path resolved, its body parsed. */
export interface Call {
  readonly state: SandboxState;
  readonly context: SandboxContext;
  readonly request: SandboxRequest;
  /** Decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** Members of the body; empty for requests that have none. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface PlainTeamCall extends Call {
  readonly team: TeamRow;
}

export interface TeamCall extends PlainTeamCall {
  readonly region: RegionRow;
}

export interface ApplicationCall extends TeamCall {
  readonly application: ApplicationRow;
}

export interface ComponentCall extends ApplicationCall {
  readonly component: ComponentRow;
}

interface RouteFacts {
  /** The platform client's name of the operation. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `/openapi/v1/teams/{team_id}/…` */
  readonly template: string;
  /** The smaller dialect that has it; the extended one has all. */
  readonly dialect: 'documented' | 'extended';
  /** true: only a user with rights in the enterprise may ask. */
  readonly administrators?: boolean;
}

/** One operation of the API, by how much of its path must exist before it runs. */
export type Route = RouteFacts &
  (
    | { readonly needs: 'enterprise'; readonly run: (call: Call) => Answer }
    /** A team, and no region. */
    | { readonly needs: 'plain-team'; readonly run: (call: PlainTeamCall) => Answer }
    | { readonly needs: 'team'; readonly run: (call: TeamCall) => Answer }
    | { readonly needs: 'application'; readonly run: (call: ApplicationCall) => Answer }
    | { readonly needs: 'component'; readonly run: (call: ComponentCall) => Answer }
  );

export function isExtended(call: Call): boolean {
  return call.context.dialect === 'extended';
}
