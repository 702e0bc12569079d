/// What the inspector's pages look like, and the script that keeps the list live.
enum InspectorAssets {
    static let style = """
        :root{color-scheme:light dark;--page:#f5f6f8;--card:#fff;--text:#171b22;--quiet:#525b69;--line:#d5dae1;--bar:#0a7d5c;
        --bad:#a8171f;--link:#0b5cad}
        @media(prefers-color-scheme:dark){:root{--page:#11151b;--card:#1c2129;--text:#eceff4;--quiet:#aab3c0;--line:#333b47;
        --bar:#2fb58c;--bad:#ff9b9b;--link:#8cc2ff}}
        *{box-sizing:border-box}body{margin:0;padding:16px;background:var(--page);color:var(--text);font:16px/1.5 system-ui,sans-serif}
        main{max-width:1100px;margin:auto}h1{font-size:24px;margin:8px 0;overflow-wrap:anywhere}h2{font-size:18px;margin:24px 0 4px}
        a{color:var(--link)}.quiet{color:var(--quiet);margin:0 0 8px;overflow-wrap:anywhere}.bad{color:var(--bad)}
        .hidden{position:absolute;clip-path:inset(50%)}
        table{border-collapse:collapse;width:100%;background:var(--card);border:1px solid var(--line);border-radius:8px}
        th,td{text-align:left;padding:6px 10px;border-top:1px solid var(--line);overflow-wrap:anywhere;font-weight:400}
        #rows td:nth-child(1),#rows td:nth-child(4),#rows td:nth-child(6),#rows th{white-space:nowrap}
        #rows td:nth-child(6),.steps td:nth-child(3){text-align:right}
        .steps th,.steps td:nth-child(3),.calls td+td{white-space:nowrap}
        thead th{border-top:0;color:var(--quiet);font-size:14px}.steps th{width:30%}
        pre,textarea{width:100%;background:var(--card);color:inherit;border:1px solid var(--line);border-radius:8px;padding:10px;
        font:14px/1.45 ui-monospace,monospace;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}
        code{font:14px ui-monospace,monospace}label{display:block;color:var(--quiet);margin:4px 0}
        button{font:inherit;min-height:44px;padding:8px 20px;border:0;border-radius:8px;background:var(--link);color:var(--page)}
        a:focus-visible,button:focus-visible,textarea:focus-visible{outline:3px solid var(--bar);outline-offset:2px}
        rect{fill:var(--bar)}rect.refused,rect.failed{fill:var(--bad)}rect.skipped{fill:var(--quiet)}
        @media(max-width:640px){thead{position:absolute;clip-path:inset(50%)}#rows tr{display:block;padding:6px 0;
        border-top:1px solid var(--line)}#rows td{display:inline-block;border:0;padding:2px 10px}
        svg{width:64px}.steps th,.steps td{padding:6px}}
        """

    static let script = """
        "use strict";
        const table = document.getElementById("rows");
        if (table) {
          const live = document.getElementById("live");
          const body = table.querySelector("tbody");
          const look = async () => {
            try {
              const answer = await fetch("/_inspect/requests?after=" + table.dataset.last, {cache: "no-store"});
              const news = await answer.json();
              if (news.rows) {
                body.insertAdjacentHTML("afterbegin", news.rows);
                table.dataset.last = news.last;
                while (body.rows.length > 200) body.deleteRow(-1);
              }
              live.textContent = "Live: newest first, the last 200 are kept.";
            } catch (error) {
              live.textContent = "The service does not answer; waiting for it.";
            }
            setTimeout(look, 1000);
          };
          look();
        }
        """
}
