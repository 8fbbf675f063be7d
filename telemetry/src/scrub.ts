import { madeOf, type SecretList } from './secretList.ts';

const mark = '…';

/** Names whose values are secret, in connection strings, addresses and forms. */
const named =
  /\b(sig|\w*(?:accesskey|accountkey|accesssignature|secret|password|token))(\s{0,3}["']?\s{0,3}[=:]\s{0,3}["']?)[^\s;&,"'<>]+/gi;
const bearer = /\b(bearer|basic) +[\w.~+/=-]+/gi;
/** Everything behind the path of an address; what stands before its host. */
const query = /(\w:\/\/[^\s?#"'<>]{0,500})[?#][^\s"'<>]*/g;
const user = /(\w:\/\/)[^\s/@"'<>]*@/g;

/** Removes secrets from texts: known ones, and what looks like one. */
export function createScrub(secrets: SecretList): (text: string) => string {
  const known = madeOf(secrets, tellingOf);

  return (text) => {
    let scrubbed = text;
    for (const secret of known()) scrubbed = scrubbed.replaceAll(secret, mark);
    return scrubbed
      .replace(user, `$1${mark}@`)
      .replace(query, `$1?${mark}`)
      .replace(bearer, `$1 ${mark}`)
      .replace(named, `$1$2${mark}`);
  };
}

/** In the forms in which they are found, the longest first. */
function tellingOf(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())]);
  return [...new Set(forms)].filter(({ length }) => length >= 4).sort((a, b) => b.length - a.length);
}
