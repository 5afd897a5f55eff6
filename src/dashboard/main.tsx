import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import { render } from 'preact';
import { startLive } from './live.ts';
import { startRouter } from './router.ts';
import { startSession } from './session.ts';
import { App } from './shell/app.tsx';
import { startKeys } from './shell/keys.tsx';
import { startTheme } from './theme.ts';

startTheme();
startRouter();
startKeys();
render(<App />, document.body);
void startSession();
startLive();
