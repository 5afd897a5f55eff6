import { decodeApplicationSummary } from '../../platform/decode.ts';
import { addressOf } from '../../platform/address.ts';
import { checkedServiceName, checkedText } from '../../platform/request-values.ts';
import { defineWrite, NO_EVIDENCE } from '../../platform/writes.ts';

interface NewApplication {
  readonly team: string;
  readonly region: string;
  readonly name: string;
  readonly k8sApp: string;
}

export const createApplication = defineWrite<NewApplication>('createApplication', {
  method: 'POST',
  class: 'duplicate-accepting',
  request: ({ team, region, name, k8sApp }) => ({
    path: addressOf({ team, region }, 'region', ['apps']),
    body: {
      app_name: checkedText(name, 'application name', 128),
      k8s_app: checkedServiceName(k8sApp, 'application name inside the cluster'),
    },
  }),
  evidence: ({ json }, { name }) =>
    decodeApplicationSummary(json, 'created application').name === name
      ? NO_EVIDENCE
      : 'the platform answered with another application than the one sent',
});
