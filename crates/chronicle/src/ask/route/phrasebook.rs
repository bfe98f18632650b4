//! Words of other languages, and other ways to say the same, as the English words that rules know.
//!
//! Only what asks is in here: question words, times, and what is asked for. What a question is about stays as it was
//! typed. A phrase that is also an English word is left out, or comes with its neighbours (`was habe ich`).

use super::words::Word;

/// Phrases of words, the longer ones first where they begin alike, and what they stand for.
const PHRASES: [(&str, &str); 166] = [
    // English
    ("how come", "why did"),
    ("the number of", "how many"),
    ("number of", "how many"),
    ("count of", "how many"),
    ("count all my", "how many"),
    ("count the", "how many"),
    ("count my", "how many"),
    ("count all", "how many"),
    ("count our", "how many"),
    ("thank you very much", ""),
    ("thank you", ""),
    // German
    ("was habe ich", "what did i"),
    ("was hab ich", "what did i"),
    ("was haben wir", "what did we"),
    ("was war ich", "what was i"),
    ("was ist", "what is"),
    ("was sind", "what are"),
    ("was muss ich", "what do i have to"),
    ("was wissen wir", "what do we know"),
    ("was weiss ich", "what do i know"),
    ("woran habe ich", "what did i work on"),
    ("woran haben wir", "what did we work on"),
    ("wo war ich", "where was i"),
    ("wo bin ich", "where am i"),
    ("wie habe ich", "how did i"),
    ("wie haben wir", "how did we"),
    ("wie fuhre ich", "how do i"),
    ("wie kann ich", "how do i"),
    ("wie mache ich", "how do i"),
    ("wie viele", "how many"),
    ("wieviele", "how many"),
    ("wie oft", "how often"),
    ("habe ich", "did i"),
    ("haben wir", "did we"),
    ("hatte ich", "did i have"),
    ("hatten wir", "did we have"),
    ("gibt es", "is there"),
    ("warum", "why did"),
    ("wieso", "why did"),
    ("weshalb", "why did"),
    ("welche", "which"),
    ("gemacht", "done"),
    ("getan", "done"),
    ("erledigt", "done"),
    ("gearbeitet", "worked"),
    ("entschieden", "decided"),
    ("beschlossen", "decided"),
    ("geandert", "changed"),
    ("bearbeitet", "edited"),
    ("noch", "still"),
    ("offen", "open"),
    ("unerledigt", "unfinished"),
    ("sitzungen", "sessions"),
    ("sitzung", "session"),
    ("dateien", "files"),
    ("zu den", "about the"),
    ("zu der", "about the"),
    ("zum", "about the"),
    ("zur", "about the"),
    ("uber", "about"),
    ("fur den", "for the"),
    ("fur die", "for the"),
    ("fur das", "for the"),
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
    ("im", "i am"),
    ("januar", "january"),
    ("februar", "february"),
    ("marz", "march"),
    ("juni", "june"),
    ("juli", "july"),
    ("oktober", "october"),
    ("dezember", "december"),
    // Spanish
    ("que hice", "what did i do"),
    ("que hicimos", "what did we do"),
    ("que decidimos", "what did we decide"),
    ("que decidi", "what did i decide"),
    ("que sabemos", "what do we know"),
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
    ("cuantas", "how many"),
    ("cuantos", "how many"),
    ("sesiones", "sessions"),
    ("archivos", "files"),
    ("por que", "why did"),
    ("como hago", "how do i"),
    ("como ejecuto", "how do i"),
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
    // French, whose other words are in the rules
    ("avant hier", "day before yesterday"),
    ("combien de", "how many"),
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
    // Russian
    ("что я делал", "what did i do"),
    ("что я делала", "what did i do"),
    ("что я сделал", "what did i do"),
    ("что мы решили", "what did we decide"),
    ("что осталось сделать", "what is left to do"),
    ("что осталось", "what is left"),
    ("сколько", "how many"),
    ("сессий", "sessions"),
    ("почему", "why did"),
    ("вчера", "yesterday"),
    ("на прошлой неделе", "last week"),
    // Arabic
    ("ماذا فعلت", "what did i do"),
    ("ماذا بقي", "what is left"),
    ("لماذا", "why did"),
    ("أمس", "yesterday"),
];

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
    let mut out = Vec::new();
    let mut left = words.as_slice();
    while let [first, rest @ ..] = left {
        let phrase = PHRASES
            .iter()
            .map(|(phrase, english)| (phrase.split(' ').count(), phrase, english))
            .filter(|(n_words, phrase, _)| {
                let begins = left.get(..*n_words).unwrap_or_default();
                phrase.split(' ').eq(begins.iter().map(|word| word.text.as_str()))
            })
            .max_by_key(|(n_words, ..)| *n_words);
        match phrase {
            Some((n_words, _, english)) => {
                let at = first.at.start..left[n_words - 1].at.end;
                out.extend(english.split_whitespace().map(|word| Word::new(word, at.clone())));
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

/// The parts of a word in a script without spaces, if some of them ask.
fn parted(word: Word) -> Vec<Word> {
    if word.text.is_ascii() {
        return vec![word];
    }
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(next) = word.text[at..].chars().next() {
        let rest = &word.text[at..];
        let known = UNSPACED.iter().filter(|(phrase, _)| rest.starts_with(phrase));
        let Some((phrase, english)) = known.max_by_key(|(phrase, _)| phrase.len()) else {
            at += next.len_utf8();
            continue;
        };
        let place = |from: usize, to: usize| word.at.start + from..word.at.start + to;
        if from < at {
            parts.push(Word::new(&word.text[from..at], place(from, at)));
        }
        let end = at + phrase.len();
        parts.extend(english.split(' ').map(|one| Word::new(one, place(at, end))));
        (from, at) = (end, end);
    }
    // Letters that were folded have other lengths than those that were typed.
    if parts.is_empty() || word.text.len() != word.at.len() {
        return vec![word];
    }
    if from < word.text.len() {
        parts.push(Word::new(&word.text[from..], word.at.start + from..word.at.end));
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
    }

    #[test]
    fn what_a_question_is_about_stays_as_it_is() {
        check("连接池", "连接池");
        check("was offered by the pool", "was offered by the pool");
        check("Übergänge", "ubergange");
    }
}
