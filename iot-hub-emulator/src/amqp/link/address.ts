/**
 * What an address means, whatever its client writes before it: a slash, or the scheme and host of a URI, as in
 * `amqps://HOST/HUB/ConsumerGroups/…`.
 */
export const pathOf = (address: string): string => address.replace(/^amqps?:\/\/[^/]*/i, '').replace(/^\//, '');
