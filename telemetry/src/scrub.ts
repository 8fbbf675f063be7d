const mark = '…';

/** Names whose values are secret, in connection strings, addresses and forms. */
const named =
  /\b(sig|\w*(?:accesskey|accountkey|accesssignature|secret|password|token))(\s{0,3}["']?\s{0,3}[=:]\s{0,3}["']?)[^\s;&,"'<>]+/gi;
const bearer = /\b(bearer|basic) +[\w.~+/=-]+/gi;
/** Everything behind the path of an address; what stands before its host. */
const query = /(\w:\/\/[^\s?#"'<>]{0,500})[?#][^\s"'<>]*/g;
const user = /(\w:\/\/)[^\s/@"'<>]*@/g;

/** Removes secrets from texts: known ones, and what looks like one. */
export function createScrub(secrets: readonly string[]): (text: string) => string {
  const known = secrets.flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())]);
  const telling = [...new Set(known)].filter(({ length }) => length >= 4).sort((a, b) => b.length - a.length);

  return (text) => {
    let scrubbed = text;
    for (const secret of telling) scrubbed = scrubbed.replaceAll(secret, mark);
    return scrubbed
      .replace(user, `$1${mark}@`)
      .replace(query, `$1?${mark}`)
      .replace(bearer, `$1 ${mark}`)
      .replace(named, `$1$2${mark}`);
  };
}
