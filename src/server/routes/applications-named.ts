import type { ControllerApi } from '../../controller/api.ts';
import { nearest } from '../../manifest/suggest.ts';
import type { ApplicationDetails } from '../../model/status.ts';
import { problem, RequestProblem } from '../problem.ts';

/** @throws RequestProblem 404 that says which name was probably meant. */
export function applicationNamed(api: ControllerApi, name: string | undefined): ApplicationDetails {
  const found = api.application(`Application/${name ?? ''}`);
  if (found !== undefined) return found;
  const names = api.applications().map(({ id }) => id.slice('Application/'.length));
  const meant = nearest(name ?? '', names);
  const list = 'GET /api/v1/applications (portolan status --server) lists those there are.';
  throw new RequestProblem(
    problem(404, {
      code: 'controller/unknown-application',
      detail: `There is no application ${name ?? ''}. Nothing was done.`,
      remedy: meant === undefined ? list : `Did you mean ${meant}? ${list}`,
    }),
  );
}
