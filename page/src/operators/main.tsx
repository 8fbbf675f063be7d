import { render } from 'preact';
import { OperatorsHome } from './OperatorsHome.tsx';

document.title = 'Device messaging: operators';
render(<OperatorsHome />, document.body);
