/** `kind` of its documents. */
export const STORE_INSTALL = 'StoreInstall';
