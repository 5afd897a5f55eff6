import { bare, crashed, enveloped } from './answers.ts';
import type { PlainTeamCall, TeamCall } from './call.ts';
import { pageOf } from './pages.ts';
import type { CertificateRow } from './state.ts';
import type { Answer } from './wire.ts';

/** The server shows times of certificates in its own zone, UTC+8. */
const ZONE_MS = 8 * 3_600_000;

/** Extended: the regions that a team is set up in, whatever their status. For every token; `token` is a secret. */
export function listTeamRegions({ state, team, request }: PlainTeamCall): Answer {
  if (request.query['query']) return crashed('(1064, "You have an error in your SQL syntax")', 'ProgrammingError');
  const regions = team.regions.flatMap((name) => state.regions.get(name) ?? []);
  return bare({
    total: regions.length,
    regions: pageOf(regions, request.query).items.map((region) => ({
      region_id: region.id,
      region_name: region.name,
      region_alias: region.alias,
      tenant_name: team.name,
      url: region.url,
      wsurl: region.websocketUrl ?? '',
      httpdomain: region.ruleDomain,
      tcpdomain: region.tcpDomain ?? '',
      token: region.token ?? '',
      status: region.status,
      desc: region.description,
      scope: 'private',
    })),
  });
}

/** Extended: the certificates of a team, without their keys. */
export function listCertificates({ state, team, request, context }: PlainTeamCall): Answer {
  const certificates = [...state.certificates.all()].filter((row) => row.teamId === team.id);
  const { page, pageSize, items } = pageOf(certificates, request.query);
  return bare({
    list: items.map((row) => certificateRecord(row, context.nowMs)),
    page,
    page_size: pageSize,
    total: certificates.length,
  });
}

function certificateRecord(certificate: CertificateRow, nowMs: number): object {
  const shown = new Date(certificate.expiresMs + ZONE_MS).toISOString();
  return {
    has_expired: nowMs >= certificate.expiresMs,
    issued_to: certificate.issuedTo,
    alias: certificate.alias,
    certificate_type: '服务端证书',
    end_data: shown.slice(0, 19).replace('T', ' '),
    id: certificate.id,
    issued_by: '第三方签发',
  };
}

/** Extended: the inner ports of a team, without protocol, alias or outer access. */
export function listInnerPorts({ state, team, region }: TeamCall): Answer {
  const ports = [...state.components.all()]
    .filter((component) => component.teamId === team.id && component.region === region.name)
    .flatMap((component) =>
      state.ports
        .in('component', component.id)
        .filter((port) => port.inner)
        .map((port) => ({
          port: port.port,
          service_name: port.serviceName,
          namespace: team.name,
          component_name: component.name,
        })),
    );
  return enveloped('查询成功', { bean: { namespace: team.name, ports } });
}
