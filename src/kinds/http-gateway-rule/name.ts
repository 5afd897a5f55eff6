/** `kind` of its documents. */
export const GATEWAY_RULE = 'HttpGatewayRule';
