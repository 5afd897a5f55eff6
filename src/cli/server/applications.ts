import type { ApplicationDetails } from '../../model/status.ts';
import type { PlanDocument } from '../../model/plan-document.ts';
import type { ServerClient } from './client.ts';

/** Returns the status of an application. @throws PortolanError where the server has no such application. */
export async function applicationOf(server: ServerClient, name: string): Promise<ApplicationDetails> {
  return (await server.get(`applications/${encodeURIComponent(name)}`, 'conditions')) as ApplicationDetails;
}

/** Returns the present plan of an application, from the accepted source. */
export async function presentPlan(server: ServerClient, name: string): Promise<PlanDocument> {
  return (await server.get(`applications/${encodeURIComponent(name)}/plan`, 'formatVersion')) as PlanDocument;
}
