// Fills <time data-source="ID"> from last-accessed.json; when anything fails, the built text stays.
(function () {
  var me = document.currentScript
  fetch(me.dataset.from || new URL("last-accessed.json", me.src), { credentials: "omit" })
    .then(function (r) { return r.json() })
    .then(function (data) {
      document.querySelectorAll("time[data-source]").forEach(function (time) {
        var source = data.sources[time.dataset.source]
        var page = time.closest("[lang]")
        var lang = page && /^zh/i.test(page.lang) ? "zh-CN" : "en"
        if (!source || !source.text || !source.text[lang]) return
        var minute = source.precision == "minute"
        time.dateTime = minute ? source.last_accessed.slice(0, 16) + "Z" : source.date
        time.title = time.dateTime + (source.as_of ? " \u00b7 " + source.as_of[lang] : "")
        time.textContent = source.text[lang]
      })
    })
    .catch(function () {})
})()
