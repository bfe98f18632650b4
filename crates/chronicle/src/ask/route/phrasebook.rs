//! Words of other languages, and other ways to say the same, as the English words that rules know.
//!
//! Only what asks is in here: question words, times, and what is asked for. What a question is about stays as it was
//! typed. A phrase that is also an English word is left out, or comes with its neighbours (`was habe ich`).

use super::words::Word;

/// How a language asks.
struct Language {
    /// Phrases of words that only ask, and what they stand for. One of them shows that the language is spoken.
    asking: &'static [(&'static str, &'static str)],
    /// Words that may be others in English, or a part of what the question is about (`die`, `on`): they are read so only
    /// where the language is spoken.
    joining: &'static [(&'static str, &'static str)],
}

const LANGUAGES: [Language; 9] =
    [ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE, ITALIAN, DUTCH, RUSSIAN, ARABIC];

const ENGLISH: Language = Language {
    asking: &[
        ("im", "i am"),
        ("how come", "why did"),
        ("the number of", "how many"),
        ("number of", "how many"),
        ("count of", "how many"),
        ("count all my", "how many"),
        ("count the", "how many"),
        ("count my", "how many"),
        ("count all", "how many"),
        ("count our", "how many"),
        ("what day was it when", "when did"),
        ("what day was it that", "when did"),
        ("what day did", "when did"),
        ("which day did", "when did"),
        ("on which day did", "when did"),
        ("on what day did", "when did"),
        ("what date did", "when did"),
        ("how long ago did", "when did"),
        ("how long ago was", "when was"),
        ("did the team", "did we"),
        ("has the team", "have we"),
        ("was the team", "were we"),
        ("is the team", "are we"),
        ("does the team", "do we"),
        ("thank you very much", ""),
        ("thank you", ""),
    ],
    joining: &[],
};

const GERMAN: Language = Language {
    asking: &[
        ("was habe ich", "what did i"),
        ("was hab ich", "what did i"),
        ("was haben wir", "what did we"),
        ("was war ich", "what was i"),
        ("was wurde", "what was"),
        ("was kam", "what came"),
        ("was ist", "what is"),
        ("was sind", "what are"),
        ("was muss ich", "what do i have to"),
        ("was wissen wir", "what do we know"),
        ("was weiss ich", "what do i know"),
        ("woran habe ich", "what did i work on"),
        ("woran haben wir", "what did we work on"),
        ("wo war ich", "where was i"),
        ("wo bin ich", "where am i"),
        ("wo habe ich", "where did i"),
        ("wo haben wir", "where did we"),
        ("wie habe ich", "how did i"),
        ("wie haben wir", "how did we"),
        ("wie fuhre ich", "how do i"),
        ("wie kann ich", "how do i"),
        ("wie mache ich", "how do i"),
        ("wie starte ich", "how do i start"),
        ("wie teste ich", "how do i test"),
        ("wie baue ich", "how do i build"),
        ("wie viele", "how many"),
        ("wieviele", "how many"),
        ("wie oft", "how often"),
        ("wie lange", "how long"),
        ("wann habe ich", "when did i"),
        ("wann haben wir", "when did we"),
        ("wann wurde", "when was"),
        ("wann war", "when was"),
        ("habe ich", "did i"),
        ("haben wir", "did we"),
        ("hatte ich", "did i have"),
        ("hatten wir", "did we have"),
        ("gibt es", "is there"),
        ("warum", "why did"),
        ("wieso", "why did"),
        ("weshalb", "why did"),
        ("welche", "which"),
        ("welchen", "which"),
        ("welcher", "which"),
        ("welches", "which"),
        ("gemacht", "done"),
        ("getan", "done"),
        ("erledigt", "done"),
        ("gearbeitet", "worked"),
        ("entschieden", "decided"),
        ("beschlossen", "decided"),
        ("geandert", "changed"),
        ("bearbeitet", "edited"),
        ("aufgemacht", "opened"),
        ("eroffnet", "opened"),
        ("erstellt", "created"),
        ("behoben", "fixed"),
        ("gelost", "solved"),
        ("fehlgeschlagen", "failed"),
        ("abgelehnt", "rejected"),
        ("unerledigt", "unfinished"),
        ("blockiert", "blocked"),
        ("sitzungen", "sessions"),
        ("sitzung", "session"),
        ("dateien", "files"),
        ("projekten", "projects"),
        ("projekte", "projects"),
        ("projekt", "project"),
        ("entscheidungen", "decisions"),
        ("entscheidung", "decision"),
        ("ergebnis", "result"),
        ("am haufigsten", "most often"),
        ("ublicherweise", "usually"),
        ("normalerweise", "usually"),
        ("zum", "about the"),
        ("zur", "about the"),
        ("uber", "about"),
        ("vorgestern", "day before yesterday"),
        ("gestern", "yesterday"),
        ("heute", "today"),
        ("letzte woche", "last week"),
        ("letzter woche", "last week"),
        ("diese woche", "this week"),
        ("dieser woche", "this week"),
        ("letzten monat", "last month"),
        ("diesen monat", "this month"),
        ("im januar", "in january"),
        ("im februar", "in february"),
        ("im marz", "in march"),
        ("im april", "in april"),
        ("im juni", "in june"),
        ("im juli", "in july"),
        ("im august", "in august"),
        ("im september", "in september"),
        ("im oktober", "in october"),
        ("im november", "in november"),
        ("im dezember", "in december"),
        ("im mai", "in may"),
        ("januar", "january"),
        ("februar", "february"),
        ("marz", "march"),
        ("juni", "june"),
        ("juli", "july"),
        ("oktober", "october"),
        ("dezember", "december"),
        ("montag", "monday"),
        ("dienstag", "tuesday"),
        ("mittwoch", "wednesday"),
        ("donnerstag", "thursday"),
        ("freitag", "friday"),
        ("samstag", "saturday"),
        ("sonntag", "sunday"),
    ],
    joining: &[
        ("noch", "still"),
        ("offen", "open"),
        ("zu den", "about the"),
        ("zu der", "about the"),
        ("zu", "about"),
        ("bei den", "with the"),
        ("bei der", "with the"),
        ("bei", "with"),
        ("fur den", "for the"),
        ("fur die", "for the"),
        ("fur das", "for the"),
        ("fur", "for"),
        ("mit", "with"),
        ("von", "of"),
        ("am", "on"),
        ("an", "on"),
        ("auf", "on"),
        ("im", "in the"),
        ("seit", "since"),
        ("und", "and"),
        ("der", "the"),
        ("die", "the"),
        ("das", "the"),
        ("den", "the"),
        ("dem", "the"),
        ("ich", "i"),
        ("wir", "we"),
        ("habe", "have"),
        ("haben", "have"),
        ("wurden", "were"),
        ("wurde", "was"),
        ("zuletzt", "last"),
        ("zuerst", "first"),
        ("heraus", "out"),
        ("raus", "out"),
        ("aufgehort", "left off"),
        ("fehler", "error"),
    ],
};

const SPANISH: Language = Language {
    asking: &[
        ("que hice", "what did i do"),
        ("que hicimos", "what did we do"),
        ("que decidimos", "what did we decide"),
        ("que decidi", "what did i decide"),
        ("que sabemos", "what do we know"),
        ("que cambio", "what changed"),
        ("que paso", "what happened"),
        ("tuve", "did i have"),
        ("tuvimos", "did we have"),
        ("que falta por hacer", "what is left to do"),
        ("que falta", "what is left"),
        ("que queda por hacer", "what is left to do"),
        ("que queda", "what is left"),
        ("que quedo pendiente", "what is pending"),
        ("pendientes", "pending"),
        ("en que trabaje", "what did i work on"),
        ("en que trabajamos", "what did we work on"),
        ("donde me quede", "where did i leave off"),
        ("cuando arregle", "when did i fix"),
        ("cuando hice", "when did i do"),
        ("cuando empece", "when did i first"),
        ("cuando fue", "when was"),
        ("cuando", "when did i"),
        ("cuantas", "how many"),
        ("cuantos", "how many"),
        ("cuanto tiempo", "how long"),
        ("que archivos", "which files"),
        ("que proyectos", "which projects"),
        ("que sesiones", "which sessions"),
        ("sesiones", "sessions"),
        ("sesion", "session"),
        ("archivos", "files"),
        ("proyectos", "projects"),
        ("por que", "why did"),
        ("como hago", "how do i"),
        ("como ejecuto", "how do i"),
        ("como suelo", "how do i usually"),
        ("como arregle", "how did i fix"),
        ("como arreglamos", "how did we fix"),
        ("como resolvimos", "how did we fix"),
        ("sobre los", "about the"),
        ("sobre las", "about the"),
        ("sobre el", "about the"),
        ("sobre la", "about the"),
        ("sobre", "about"),
        ("ayer", "yesterday"),
        ("anteayer", "day before yesterday"),
        ("hoy", "today"),
        ("la semana pasada", "last week"),
        ("esta semana", "this week"),
        ("el mes pasado", "last month"),
        ("este mes", "this month"),
        ("enero", "january"),
        ("febrero", "february"),
        ("en marzo", "in march"),
        ("abril", "april"),
        ("en mayo", "in may"),
        ("junio", "june"),
        ("julio", "july"),
        ("agosto", "august"),
        ("septiembre", "september"),
        ("octubre", "october"),
        ("noviembre", "november"),
        ("diciembre", "december"),
        ("lunes", "monday"),
        ("martes", "tuesday"),
        ("miercoles", "wednesday"),
        ("jueves", "thursday"),
        ("viernes", "friday"),
        ("mas a menudo", "most often"),
        ("normalmente", "usually"),
    ],
    joining: &[
        ("del", "of the"),
        ("de la", "of the"),
        ("de", "of"),
        ("el", "the"),
        ("la", "the"),
        ("los", "the"),
        ("las", "the"),
        ("en", "in"),
        ("con", "with"),
        ("para", "for"),
        ("y", "and"),
        ("cambie", "changed"),
        ("cambiamos", "changed"),
        ("abri", "opened"),
        ("trabaje", "worked"),
        ("error", "error"),
    ],
};

/// Other words of French are in the rules.
const FRENCH: Language = Language {
    asking: &[
        ("avant hier", "day before yesterday"),
        ("combien de temps", "how long"),
        ("combien de fois", "how often"),
        ("combien de", "how many"),
        ("combien d", "how many"),
        ("quand est ce que j ai", "when did i"),
        ("quand ai je", "when did i"),
        ("quand avons nous", "when did we"),
        ("quand j ai", "when did i"),
        ("quels fichiers", "which files"),
        ("quelles sessions", "which sessions"),
        ("quels commits", "which commits"),
        ("quelles branches", "which branches"),
        ("sur quels projets", "which projects"),
        ("quels projets", "which projects"),
        ("pourquoi on a", "why did we"),
        ("pourquoi avons nous", "why did we"),
        ("pourquoi j ai", "why did i"),
        ("qu est ce qui a change", "what changed"),
        ("qu est ce qui reste", "what is left"),
        ("le plus souvent", "most often"),
        ("d habitude", "usually"),
        ("janvier", "january"),
        ("fevrier", "february"),
        ("en mars", "in march"),
        ("avril", "april"),
        ("en mai", "in may"),
        ("juin", "june"),
        ("juillet", "july"),
        ("en aout", "in august"),
        ("octobre", "october"),
        ("decembre", "december"),
        ("lundi", "monday"),
        ("mardi", "tuesday"),
        ("mercredi", "wednesday"),
        ("jeudi", "thursday"),
        ("vendredi", "friday"),
    ],
    joining: &[
        ("modifies", "changed"),
        ("modifie", "changed"),
        ("changes", "changed"),
        ("ouvert", "opened"),
        ("ouvertes", "opened"),
        ("corrige", "fixed"),
        ("abandonne", "abandoned"),
        ("ont ete", "were"),
        ("a ete", "was"),
    ],
};

const PORTUGUESE: Language = Language {
    asking: &[
        ("o que eu fiz", "what did i do"),
        ("o que fiz", "what did i do"),
        ("o que fizemos", "what did we do"),
        ("o que decidimos", "what did we decide"),
        ("o que sabemos", "what do we know"),
        ("o que falta", "what is left"),
        ("o que ficou pendente", "what is pending"),
        ("o que mudou", "what changed"),
        ("em que trabalhei", "what did i work on"),
        ("onde parei", "where did i leave off"),
        ("onde paramos", "where did we leave off"),
        ("quantas", "how many"),
        ("quantos", "how many"),
        ("quanto tempo", "how long"),
        ("quando foi que", "when did"),
        ("quando eu", "when did i"),
        ("quando corrigi", "when did i fix"),
        ("por que", "why did"),
        ("como costumo", "how do i usually"),
        ("como eu costumo", "how do i usually"),
        ("como faco", "how do i"),
        ("como corrigi", "how did i fix"),
        ("como resolvemos", "how did we fix"),
        ("quais arquivos", "which files"),
        ("quais projetos", "which projects"),
        ("quais sessoes", "which sessions"),
        ("quais", "which"),
        ("arquivos", "files"),
        ("projetos", "projects"),
        ("sessoes", "sessions"),
        ("ontem", "yesterday"),
        ("anteontem", "day before yesterday"),
        ("hoje", "today"),
        ("na semana passada", "last week"),
        ("semana passada", "last week"),
        ("mes passado", "last month"),
        ("em janeiro", "in january"),
        ("em fevereiro", "in february"),
        ("em marco", "in march"),
    ],
    joining: &[
        ("rodar", "run"),
        ("os", "the"),
        ("as", "the"),
        ("o", "the"),
        ("do", "of the"),
        ("da", "of the"),
        ("de", "of"),
        ("sobre", "about"),
        ("para", "for"),
        ("com", "with"),
        ("testes", "tests"),
    ],
};

const ITALIAN: Language = Language {
    asking: &[
        ("cosa ho fatto", "what did i do"),
        ("che cosa ho fatto", "what did i do"),
        ("cosa abbiamo fatto", "what did we do"),
        ("cosa abbiamo deciso", "what did we decide"),
        ("cosa sappiamo", "what do we know"),
        ("cosa resta da fare", "what is left to do"),
        ("cosa resta", "what is left"),
        ("cosa manca", "what is left"),
        ("cosa e cambiato", "what changed"),
        ("a cosa ho lavorato", "what did i work on"),
        ("dove ero rimasto", "where did i leave off"),
        ("dove eravamo rimasti", "where did we leave off"),
        ("quando ho", "when did i"),
        ("quando abbiamo", "when did we"),
        ("quanto tempo", "how long"),
        ("quante", "how many"),
        ("quanti", "how many"),
        ("perche", "why did"),
        ("come faccio", "how do i"),
        ("come ho risolto", "how did i fix"),
        ("come abbiamo risolto", "how did we fix"),
        ("quali file", "which files"),
        ("quali progetti", "which projects"),
        ("quali sessioni", "which sessions"),
        ("quali", "which"),
        ("sessioni", "sessions"),
        ("progetti", "projects"),
        ("ieri", "yesterday"),
        ("oggi", "today"),
        ("la settimana scorsa", "last week"),
        ("settimana scorsa", "last week"),
        ("il mese scorso", "last month"),
        ("di solito", "usually"),
    ],
    joining: &[
        ("sulla", "about the"),
        ("sul", "about the"),
        ("su", "about"),
        ("della", "of the"),
        ("del", "of the"),
        ("di", "of"),
        ("il", "the"),
        ("la", "the"),
        ("con", "with"),
        ("per", "for"),
        ("modificato", "changed"),
        ("aperto", "opened"),
    ],
};

const DUTCH: Language = Language {
    asking: &[
        ("wat heb ik", "what did i"),
        ("wat hebben we", "what did we"),
        ("wat was ik", "what was i"),
        ("wat is er nog", "what is still"),
        ("wat weten we", "what do we know"),
        ("waar was ik", "where was i"),
        ("waaraan heb ik", "what did i work on"),
        ("wanneer heb ik", "when did i"),
        ("wanneer hebben we", "when did we"),
        ("hoeveel tijd", "how much time"),
        ("hoeveel", "how many"),
        ("hoe lang", "how long"),
        ("hoe heb ik", "how did i"),
        ("hoe hebben we", "how did we"),
        ("hoe doe ik", "how do i"),
        ("waarom", "why did"),
        ("welke", "which"),
        ("heb ik", "did i"),
        ("gedaan", "done"),
        ("gewerkt", "worked"),
        ("besloten", "decided"),
        ("gewijzigd", "changed"),
        ("sessies", "sessions"),
        ("bestanden", "files"),
        ("projecten", "projects"),
        ("gisteren", "yesterday"),
        ("vandaag", "today"),
        ("vorige week", "last week"),
        ("deze week", "this week"),
        ("vorige maand", "last month"),
        ("meestal", "usually"),
    ],
    joining: &[
        ("over", "about"),
        ("het", "the"),
        ("de", "the"),
        ("met", "with"),
        ("voor", "for"),
        ("in", "in"),
    ],
};

const RUSSIAN: Language = Language {
    asking: &[
        ("что я делал", "what did i do"),
        ("что я делала", "what did i do"),
        ("что я сделал", "what did i do"),
        ("что мы решили", "what did we decide"),
        ("что мы знаем", "what do we know"),
        ("что осталось сделать", "what is left to do"),
        ("что осталось", "what is left"),
        ("что изменилось", "what changed"),
        ("что сломалось", "what failed"),
        ("над чем я работал", "what did i work on"),
        ("где я остановился", "where did i leave off"),
        ("на чем мы остановились", "where did we leave off"),
        ("когда я", "when did i"),
        ("когда мы", "when did we"),
        ("когда", "when did"),
        ("сколько времени ушло на", "how much time spent on"),
        ("сколько времени заняло", "how much time spent on"),
        ("сколько времени", "how much time"),
        ("сколько раз", "how often"),
        ("сколько", "how many"),
        ("какие", "which"),
        ("в каких", "in which"),
        ("сессий", "sessions"),
        ("сессии", "sessions"),
        ("сессиях", "sessions"),
        ("проекты", "projects"),
        ("проектах", "projects"),
        ("файлы", "files"),
        ("файлов", "files"),
        ("коммитов", "commits"),
        ("коммиты", "commits"),
        ("почему", "why did"),
        ("как я обычно", "how do i usually"),
        ("как мы исправили", "how did we fix"),
        ("как я исправил", "how did i fix"),
        ("вчера", "yesterday"),
        ("позавчера", "day before yesterday"),
        ("сегодня", "today"),
        ("на прошлой неделе", "last week"),
        ("на этой неделе", "this week"),
        ("в прошлом месяце", "last month"),
        ("в январе", "in january"),
        ("в феврале", "in february"),
        ("в марте", "in march"),
    ],
    joining: &[
        ("исправление", ""),
        ("про", "about"),
        ("о", "about"),
        ("об", "about"),
        ("на", "on"),
        ("в", "in"),
        ("с", "with"),
        ("и", "and"),
        ("я", "i"),
        ("мы", "we"),
        ("изменил", "changed"),
        ("изменили", "changed"),
        ("работал", "worked"),
    ],
};

const ARABIC: Language = Language {
    asking: &[
        ("ماذا فعلت", "what did i do"),
        ("ماذا بقي", "what is left"),
        ("لماذا", "why did"),
        ("أمس", "yesterday"),
    ],
    joining: &[],
};

/// The same for scripts that put no spaces between words; empty for what only joins.
const UNSPACED: [(&str, &str); 66] = [
    ("为什么", "why did"),
    ("為什麼", "why did"),
    ("做了什么", "what did i do"),
    ("做了什麼", "what did i do"),
    ("做过什么", "what did i do"),
    ("决定了什么", "what did we decide about"),
    ("有什么没做完", "what is unfinished"),
    ("什么没做完", "what is unfinished"),
    ("没做完", "unfinished"),
    ("没完成", "unfinished"),
    ("未完成", "unfinished"),
    ("沒做完", "unfinished"),
    ("待办", "todo"),
    ("多少个", "how many"),
    ("多少", "how many"),
    ("几个", "how many"),
    ("会话", "sessions"),
    ("對話", "sessions"),
    ("对话", "sessions"),
    ("哪些", "which"),
    ("文件", "files"),
    ("改了", "changed"),
    ("前天", "day before yesterday"),
    ("昨天", "yesterday"),
    ("今天", "today"),
    ("上个星期", "last week"),
    ("上星期", "last week"),
    ("上周", "last week"),
    ("上週", "last week"),
    ("本周", "this week"),
    ("这周", "this week"),
    ("上个月", "last month"),
    ("这个月", "this month"),
    ("十二月", "in december"),
    ("十一月", "in november"),
    ("十月", "in october"),
    ("九月", "in september"),
    ("八月", "in august"),
    ("七月", "in july"),
    ("六月", "in june"),
    ("五月", "in may"),
    ("四月", "in april"),
    ("三月", "in march"),
    ("二月", "in february"),
    ("一月", "in january"),
    ("我们", "we"),
    ("我", "i"),
    ("还", "still"),
    ("何をしましたか", "what did i do"),
    ("何をしたか", "what did i do"),
    ("何をした", "what did i do"),
    ("何が残って", "what is left"),
    ("何を決め", "what did we decide"),
    ("なぜ", "why did"),
    ("どうして", "why did"),
    ("未完了", "unfinished"),
    ("タスク", "tasks"),
    ("セッション", "sessions"),
    ("いくつ", "how many"),
    ("一昨日", "day before yesterday"),
    ("昨日", "yesterday"),
    ("今日", "today"),
    ("先週", "last week"),
    ("今週", "this week"),
    ("先月", "last month"),
    ("今月", "this month"),
];

/// The words with phrases written in English: the longest phrase that begins at a word counts.
pub(super) fn in_english(words: Vec<Word>) -> Vec<Word> {
    let words: Vec<Word> = words.into_iter().flat_map(parted).collect();
    let is_spoken = |language: &&Language| {
        let asks = |at: usize| longest(language.asking.iter(), &words[at..]).is_some();
        (0..words.len()).any(asks)
    };
    let spoken: Vec<&Language> = LANGUAGES.iter().filter(is_spoken).collect();
    let phrases = || spoken.iter().flat_map(|language| language.asking.iter().chain(language.joining));
    let mut out = Vec::new();
    let mut left = words.as_slice();
    while let [first, rest @ ..] = left {
        match longest(phrases(), left) {
            Some((n_words, english)) => {
                let at = first.at.start..left[n_words - 1].at.end;
                out.extend(english.split_whitespace().map(|word| Word::translated(word, at.clone())));
                left = &left[n_words..];
            }
            None => {
                out.push(first.clone());
                left = rest;
            }
        }
    }
    out
}

/// The longest phrase with which the words begin: how many words it has, and its English.
fn longest<'p>(
    phrases: impl Iterator<Item = &'p (&'static str, &'static str)>,
    words: &[Word],
) -> Option<(usize, &'static str)> {
    let begins = |phrase: &str| {
        let mut texts = words.iter().map(|word| word.text.as_str());
        phrase.split(' ').all(|word| texts.next() == Some(word))
    };
    let found = phrases.filter(|(phrase, _)| begins(phrase));
    found.map(|(phrase, english)| (phrase.split(' ').count(), *english)).max_by_key(|(n_words, _)| *n_words)
}

/// The parts of a word in a script without spaces, if some of them ask.
fn parted(word: Word) -> Vec<Word> {
    if word.text.is_ascii() {
        return vec![word];
    }
    let mut parts = Vec::new();
    let place = |from: usize, to: usize| word.at.start + from..word.at.start + to;
    let part = |from: usize, to: usize| Word {
        text: word.text[from..to].to_owned(),
        at: place(from, to),
        is_translated: false,
    };
    let (mut from, mut at) = (0, 0);
    while let Some(next) = word.text[at..].chars().next() {
        let rest = &word.text[at..];
        let known = UNSPACED.iter().filter(|(phrase, _)| rest.starts_with(phrase));
        let Some((phrase, english)) = known.max_by_key(|(phrase, _)| phrase.len()) else {
            at += next.len_utf8();
            continue;
        };
        if from < at {
            parts.push(part(from, at));
        }
        let end = at + phrase.len();
        parts.extend(english.split(' ').map(|one| Word::translated(one, place(at, end))));
        (from, at) = (end, end);
    }
    // Letters that were folded have other lengths than those that were typed.
    if parts.is_empty() || word.text.len() != word.at.len() {
        return vec![word];
    }
    if from < word.text.len() {
        parts.push(part(from, word.text.len()));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::words::words;

    fn check(question: &str, expected: &str) {
        let found: Vec<String> = words(question, 99).into_iter().map(|word| word.text).collect();
        assert_eq!(found.join(" "), expected, "{question}");
    }

    #[test]
    fn what_asks_is_written_in_english() {
        check("Was habe ich gestern gemacht?", "what did i yesterday done");
        check("Wie viele Sitzungen hatte ich im Mai?", "how many sessions did i have in may");
        check("¿Qué queda por hacer?", "what is left to do");
        check("¿En qué trabajé la semana pasada?", "what did i work on last week");
        check("Что я делал вчера?", "what did i do yesterday");
        check("昨天我做了什么？", "yesterday i what did i do");
        check("上周我们改了哪些文件", "last week we changed which files");
        check("先週、何をしましたか", "last week what did i do");
        check("How come the pool waits?", "why did the pool waits");
        check("the number of commits", "how many commits");
        check(
            "In welchen Projekten habe ich letzte Woche gearbeitet?",
            "in which projects did i last week worked",
        );
        check("Quels fichiers ont été modifiés le plus souvent ?", "which files were changed most often");
        check("Como costumo rodar os testes?", "how do i usually run the tests");
        check("Quando ho corretto l'errore?", "when did i corretto l errore");
        check("Hoeveel sessies heb ik vorige week gehad?", "how many sessions did i last week gehad");
        check("Сколько времени ушло на исправление ENT-258?", "how much time spent on ent 258");
    }

    #[test]
    fn what_a_question_is_about_stays_as_it_is() {
        check("连接池", "连接池");
        check("was offered by the pool", "was offered by the pool");
        check("which threads die on exit", "which threads die on exit");
        check("do the os signals reach it", "do the os signals reach it");
        check("Übergänge", "ubergange");
    }
}
