import { render } from 'preact';
import { SandboxHome } from './SandboxHome.tsx';

document.title = 'Sandbox';
render(<SandboxHome />, document.body);
