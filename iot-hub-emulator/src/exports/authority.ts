/** `iot-hub-emulator/authority`: a stand-in for the platform's token endpoints. */
export { type Authority, type AuthorityOptions, type Principal, startAuthority } from '../authority/authority.ts';
