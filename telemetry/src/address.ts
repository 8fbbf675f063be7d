/** Where to listen, with the names of the settings that say so. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly settings: { readonly host: string; readonly port: string };
}

/** The error of a server that can't listen, as a sentence with the setting to change. */
export function namingSetting(error: NodeJS.ErrnoException, { host, port, settings }: Address): Error {
  const { code } = error;
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `${settings.port}: port ${port} is in use by another program; set another port, or stop that program`,
    EACCES: `${settings.port}: this user may not open port ${port}; set one above 1023`,
    EADDRNOTAVAIL: `${settings.host}: ${host} is no address of this machine`,
    ENOTFOUND: `${settings.host}: ${host} is no address of this machine`,
  };
  const sentence = sentences[code ?? ''];
  return sentence === undefined ? error : Object.assign(new Error(sentence, { cause: error }), { code });
}
