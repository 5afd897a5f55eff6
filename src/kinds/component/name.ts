/** `kind` of its documents, for the few places that are about this very kind. */
export const COMPONENT = 'Component';
