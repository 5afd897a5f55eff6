/** `kind` of its documents. */
export const COMPONENT = 'Component';
