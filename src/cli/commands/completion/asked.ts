/** The command that the completion scripts ask. It is no part of the help: nobody types it. */
export const ASKED = '__complete';
