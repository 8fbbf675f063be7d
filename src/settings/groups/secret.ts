interface Described {
  readonly doc: string;
  readonly format: string;
  readonly env: string;
}

interface SecretSetting extends Described {
  readonly default: string;
  readonly sensitive: true;
}

interface FileSetting {
  readonly doc: string;
  readonly format: string;
  readonly default: string;
  readonly env: string;
  /** Variable of the secret that is in the file. */
  readonly holds: string;
}

/** A secret, and the setting that names a file with it, to which `File` and `_FILE` are added (D396). */
export const secret = <Name extends string>(name: Name, setting: Described) =>
  ({
    [name]: { ...setting, default: '', sensitive: true },
    [`${name}File`]: {
      doc: `File with the value of \`${setting.env}\`, read again when it changes.`,
      format: 'optional-text',
      default: '',
      env: `${setting.env}_FILE`,
      holds: setting.env,
    },
  }) as { readonly [N in Name]: SecretSetting } & { readonly [N in `${Name}File`]: FileSetting };
