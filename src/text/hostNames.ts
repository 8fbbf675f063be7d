/**
 * Takes our host names, with their ports, out of a text for others. Only whole names: `hub` stays in `hubris`
 * and in `hub.example`, when `hub` is the host.
 * @param hosts names or addresses, as in URLs
 */
export function withoutHosts(hosts: readonly string[]): (text: string) => string {
  const names = hosts.filter((host) => host !== '').map((host) => host.replace(/[^\w-]/g, '\\$&'));
  if (names.length === 0) return (text) => text;
  const form = new RegExp(`(?<![\\w.-])(?:${names.join('|')})(?::\\d{1,5})?(?![\\w-]|\\.\\w)`, 'gi');
  return (text) => text.replace(form, '…');
}
